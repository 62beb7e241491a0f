import type { CommandBuilder, CommandFlags, CommandKit, FeatureServices } from '@tool-hub/core'
import { escapeLine, escapeText } from '@tool-hub/core/lib'
import type { Canvas, CanvasDetail } from './types.ts'

type Flags = CommandFlags & { readonly json?: boolean; readonly all?: boolean; readonly run?: string }

const EXAMPLES = `
Examples:
  tool-hub canvas
  tool-hub canvas show canvas-b513ab00c0dc9f03
  tool-hub canvas save canvas-b513ab00c0dc9f03 --out chart.json
  tool-hub canvas hide canvas-b513ab00c0dc9f03`

/** `canvas`: lists, shows, saves and hides canvases. */
export function canvasCommand(command: CommandBuilder, kit: CommandKit): void {
  command.description('List, show, save and hide what agents show to people in the console.')
  kit
    .addConfigOption(kit.addDefaultList(command, 'List canvases, newest first'))
    .option('--run <id>', 'Only canvases of this run')
    .option('--all', 'Include hidden canvases')
    .action((flags: Flags) => list(kit, flags))
  command.addHelpText('after', EXAMPLES)
  kit
    .addConfigOption(command.command('show'))
    .summary('Show a canvas and its versions')
    .description('Show the details of a canvas and its versions.')
    .argument('<id>', 'Id of the canvas')
    .action((id: string, flags: Flags) => show(kit, id, flags))
  describeCanvasSave(command.command('save').summary('Save the content of a canvas, or a page that shows it'), kit)
  kit
    .addConfigOption(command.command('hide'))
    .summary('Hide a canvas')
    .description('Hide a canvas from people; its versions stay stored.')
    .argument('<id>', 'Id of the canvas')
    .action((id: string, flags: Flags) => hide(kit, id, flags))
}

async function list(kit: CommandKit, { run, ...flags }: Flags): Promise<void> {
  const filter = { run, hidden: flags.all ? undefined : false, limit: 500 }
  const canvases = await kit.withHub(flags, (hub) => hub.canvas.list(filter))
  if (flags.json) return kit.printJson(canvases)
  if (canvases.length === 0) return kit.say('There are no canvases. Agents create them with the tool core/canvas.')
  await kit.print(kit.table(canvases.map(row)))
}

async function show(kit: CommandKit, id: string, flags: Flags): Promise<void> {
  const canvas = await kit.withHub(flags, (hub) => findCanvas(kit, hub, id))
  if (flags.json) return kit.printJson(canvas)
  const { title, kind, name, run, caller, tainted, hidden, versions } = canvas
  const marks = [...(tainted ? ['untrusted'] : []), ...(hidden ? ['hidden'] : [])]
  await kit.print(
    escapeText(`${escapeLine(title)}\n  ${[kind, name, ...marks].join(', ')}\n  ${run} by ${escapeLine(caller)}`),
  )
  await kit.print(
    kit.table(
      versions.map(({ n, at, bytes, artifact, callId }) => [`  ${n}`, dateOf(at), `${bytes} bytes`, callId, artifact]),
    ),
  )
}

async function hide(kit: CommandKit, id: string, flags: Flags): Promise<void> {
  await kit.withHub(flags, async (hub) => {
    await findCanvas(kit, hub, id)
    await hub.canvas.hide(id, { by: kit.callerName() })
  })
  await (flags.json ? kit.printJson({ hidden: id }) : kit.print(`Hid ${id}.`))
}

function row({ id, kind, name, title, run, latest, hidden, tainted, updatedAt }: Canvas): string[] {
  const marks = [...(tainted ? ['untrusted'] : []), ...(hidden ? ['hidden'] : [])]
  return [id, kind, name, `version ${latest.n}`, dateOf(updatedAt), run, marks.join(', '), title]
}

function dateOf(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace('T', ' ')
}

type SaveFlags = CommandFlags & {
  readonly json?: boolean
  readonly out: string
  readonly page?: boolean
  readonly ofVersion?: string
}

const SAVE_HELP = `
The page shows the canvas as the console does, in a frame without network; it needs no server.

Examples:
  tool-hub canvas save canvas-b513ab00c0dc9f03 --out chart.json
  tool-hub canvas save canvas-b513ab00c0dc9f03 --of-version 2 --page --out chart.html`

/** `canvas save`: writes the content of a canvas, or a page that shows it, to a file. */
function describeCanvasSave(command: CommandBuilder, kit: CommandKit): void {
  kit
    .addConfigOption(command)
    .description('Save the content of a canvas as the agent gave it, or with --page a page that shows it.')
    .argument('<id>', 'Id of the canvas')
    .requiredOption('--out <file>', 'File to create')
    .option('--of-version <n>', 'Version to save. Default: the latest')
    .option('--page', 'Save a self-contained page that shows the canvas')
    .addHelpText('after', SAVE_HELP)
    .action((id: string, flags: SaveFlags) => save(kit, id, flags))
}

async function save(kit: CommandKit, id: string, { out, page, ofVersion, ...flags }: SaveFlags): Promise<void> {
  const version = readVersion(kit, ofVersion)
  const text = await kit.withHub(flags, async (hub) => {
    await findCanvas(kit, hub, id)
    if (page) return hub.canvas.document(id, version === undefined ? {} : { version })
    return (await hub.canvas.content(id, version)).text
  })
  await kit.writeNewFile(out, text)
  const bytes = Buffer.byteLength(text)
  if (flags.json) return kit.printJson({ saved: id, out, bytes })
  kit.say(`Wrote ${kit.countNoun(bytes, 'byte')} to ${escapeText(out)}.`)
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
