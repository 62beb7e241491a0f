import type { CommandBuilder, CommandFlags, CommandKit, FeatureServices } from '@tool-hub/core'
import { escapeLine, escapeText } from '@tool-hub/core/lib'
import type { Canvas, CanvasDetail } from './types.ts'

type ListFlags = CommandFlags & { readonly all?: boolean; readonly run?: string }
type SaveFlags = CommandFlags & { readonly out: string; readonly page?: boolean; readonly ofVersion?: string }

const EXAMPLES = `
Examples:
  tool-hub canvas
  tool-hub canvas show canvas-b513ab00c0dc9f03
  tool-hub canvas save canvas-b513ab00c0dc9f03 --out chart.json
  tool-hub canvas hide canvas-b513ab00c0dc9f03`

const SAVE_HELP = `
The page shows the canvas as the console does, in a frame without network; it needs no server.

Examples:
  tool-hub canvas save canvas-b513ab00c0dc9f03 --out chart.json
  tool-hub canvas save canvas-b513ab00c0dc9f03 --of-version 2 --page --out chart.html`

const ID = { '<id>': 'Id of the canvas' }

/** `canvas`: lists, shows, saves and hides canvases. */
export function canvasCommand(command: CommandBuilder, kit: CommandKit): void {
  command.description('List, show, save and hide what agents show to people in the console.')
  kit.addCommand(command, {
    name: 'list',
    summary: 'List canvases, newest first',
    options: (list) =>
      list.option('--run <id>', 'Only canvases of this run').option('--all', 'Include hidden canvases'),
    run: ({ run, all, ...flags }: ListFlags) =>
      kit.withHub(flags, (hub) => hub.canvas.list({ run, hidden: all ? undefined : false, limit: 500 })),
    show: (canvases) =>
      kit.printTable(
        canvases.map((canvas) => row(kit, canvas)),
        'There are no canvases. Agents create them with the tool core/canvas.',
      ),
  })
  command.addHelpText('after', EXAMPLES)
  kit.addCommand(command, {
    name: 'show',
    summary: 'Show a canvas and its versions',
    description: 'Show the details of a canvas and its versions.',
    words: ID,
    run: (flags: CommandFlags, id: string) => kit.withHub(flags, (hub) => findCanvas(kit, hub, id)),
    show: (canvas) => describe(kit, canvas),
  })
  kit.addCommand(command, {
    name: 'save',
    summary: 'Save the content of a canvas, or a page that shows it',
    description: 'Save the content of a canvas as the agent gave it, or with --page a page that shows it.',
    words: ID,
    options: (save) =>
      save
        .requiredOption('--out <file>', 'File to create')
        .option('--of-version <n>', 'Version to save. Default: the latest')
        .option('--page', 'Save a self-contained page that shows the canvas'),
    help: SAVE_HELP,
    run: (flags: SaveFlags, id: string) => save(kit, id, flags),
    show: ({ bytes, out }) => kit.say(`Wrote ${kit.countNoun(bytes, 'byte')} to ${escapeText(out)}.`),
  })
  kit.addCommand(command, {
    name: 'hide',
    summary: 'Hide a canvas',
    description: 'Hide a canvas from people; its versions stay stored.',
    words: ID,
    run: (flags: CommandFlags, id: string) =>
      kit.withHub(flags, async (hub) => {
        await findCanvas(kit, hub, id)
        await hub.canvas.hide(id, { by: kit.callerName() })
        return { hidden: id }
      }),
    show: ({ hidden }) => `Hid ${hidden}.`,
  })
}

async function save(kit: CommandKit, id: string, { out, page, ofVersion, ...flags }: SaveFlags) {
  const version = readVersion(kit, ofVersion)
  const text = await kit.withHub(flags, async (hub) => {
    await findCanvas(kit, hub, id)
    if (page) return hub.canvas.document(id, version === undefined ? {} : { version })
    return (await hub.canvas.content(id, version)).text
  })
  await kit.writeNewFile(out, text)
  return { saved: id, out, bytes: Buffer.byteLength(text) }
}

function row(kit: CommandKit, canvas: Canvas): string[] {
  const { id, kind, name, title, run, latest, updatedAt } = canvas
  return [id, kind, name, `version ${latest.n}`, kit.minuteOf(updatedAt), run, marksOf(canvas).join(', '), title]
}

function describe(kit: CommandKit, canvas: CanvasDetail): string {
  const { title, kind, name, run, caller, versions } = canvas
  const marks = [kind, name, ...marksOf(canvas)].join(', ')
  const head = escapeText(`${escapeLine(title)}\n  ${marks}\n  ${run} by ${escapeLine(caller)}`)
  const rows = versions.map(({ n, at, bytes, artifact, callId }) => [
    `  ${n}`,
    kit.minuteOf(at),
    `${bytes} bytes`,
    callId,
    artifact,
  ])
  return `${head}\n${kit.table(rows)}`
}

function marksOf({ tainted, hidden }: Canvas): string[] {
  return [...(tainted ? ['untrusted'] : []), ...(hidden ? ['hidden'] : [])]
}

/** Finds a canvas; throws a usage error if there is none. */
async function findCanvas(kit: CommandKit, { canvas }: FeatureServices, id: string): Promise<CanvasDetail> {
  const found = await canvas.find(id)
  if (found) return found
  throw kit.usageError(`Canvas ${JSON.stringify(id)} not found.`, 'List them with tool-hub canvas --all.')
}

function readVersion(kit: CommandKit, written: string | undefined): number | undefined {
  if (written === undefined) return undefined
  if (/^[1-9]\d{0,8}$/.test(written)) return Number(written)
  throw kit.usageError(
    `Invalid version ${JSON.stringify(written)}.`,
    'Give one of the numbers that tool-hub canvas show ID lists.',
  )
}
