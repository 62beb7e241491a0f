import type { Command } from 'commander'
import type { CommandFlags, CommandKit } from '../../core/index.ts'
import { escapeLine, escapeText } from '../../lib/index.ts'
import { describeCanvasSave, findCanvas } from './commands-save.ts'
import type { Canvas } from './types.ts'

type Flags = CommandFlags & { readonly json?: boolean; readonly all?: boolean; readonly run?: string }

const EXAMPLES = `
Examples:
  tool-hub canvas
  tool-hub canvas show canvas-b513ab00c0dc9f03
  tool-hub canvas save canvas-b513ab00c0dc9f03 --out chart.json
  tool-hub canvas hide canvas-b513ab00c0dc9f03`

/** `canvas`: what agents show to people. */
export function canvasCommand(command: Command, kit: CommandKit): void {
  command.description('List, look at, save and hide what agents show to people in the console.')
  kit
    .addConfigOption(kit.addDefaultList(command, 'List what is shown, newest first'))
    .option('--run <id>', 'Of this run only')
    .option('--all', 'Hidden ones too')
    .action((flags: Flags) => list(kit, flags))
  command.addHelpText('after', EXAMPLES)
  kit
    .addConfigOption(command.command('show'))
    .summary('Show one with its versions')
    .description('Show what is known of a canvas, and its versions.')
    .argument('<id>', 'Id of the canvas')
    .action((id: string, flags: Flags) => show(kit, id, flags))
  describeCanvasSave(command.command('save').summary('Save its content, or the page that shows it'), kit)
  kit
    .addConfigOption(command.command('hide'))
    .summary('Take one out of sight')
    .description('Take a canvas out of sight; it stays on record.')
    .argument('<id>', 'Id of the canvas')
    .action((id: string, flags: Flags) => hide(kit, id, flags))
}

async function list(kit: CommandKit, { run, ...flags }: Flags): Promise<void> {
  const filter = { ...(run !== undefined && { run }), ...(!flags.all && { hidden: false }), limit: 500 }
  const canvases = await kit.withHub(flags, (hub) => hub.canvas.list(filter))
  if (flags.json) return kit.printJson(canvases)
  if (canvases.length === 0) return kit.say('Nothing is shown. Agents show something with the tool core/canvas.')
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
