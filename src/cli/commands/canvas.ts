import type { Command } from 'commander'
import type { Canvas } from '../../core/index.ts'
import { escapeLine, escapeText } from '../../lib/index.ts'
import { type HubFlags, withHub } from '../hub/with-hub.ts'
import { addConfigOption, addDefaultList } from '../input/options.ts'
import { callerName } from '../invocation.ts'
import { table } from '../output/layout.ts'
import { print, printJson, say } from '../output/print.ts'
import { findCanvas } from './canvas-find.ts'
import { describeCanvasSave } from './canvas-save.ts'

type Flags = HubFlags & { readonly json?: boolean; readonly all?: boolean }

const EXAMPLES = `
Examples:
  tool-hub canvas
  tool-hub canvas show canvas-b513ab00c0dc9f03
  tool-hub canvas save canvas-b513ab00c0dc9f03 --out chart.json
  tool-hub canvas hide canvas-b513ab00c0dc9f03`

/** `canvas`: what agents show to people. */
export function describeCanvas(command: Command): void {
  command.description('List, look at, save and hide what agents show to people in the console.')
  addConfigOption(addDefaultList(command, 'List what is shown, newest first'))
    .option('--run <id>', 'Of this run only')
    .option('--all', 'Hidden ones too')
    .action(list)
  command.addHelpText('after', EXAMPLES)
  addConfigOption(command.command('show'))
    .summary('Show one with its versions')
    .description('Show what is known of a canvas, and its versions.')
    .argument('<id>', 'Id of the canvas')
    .action(show)
  describeCanvasSave(command.command('save').summary('Save its content, or the page that shows it'))
  addConfigOption(command.command('hide'))
    .summary('Take one out of sight')
    .description('Take a canvas out of sight; it stays on record.')
    .argument('<id>', 'Id of the canvas')
    .action(hide)
}

async function list({ run, ...flags }: Flags): Promise<void> {
  const filter = { ...(run !== undefined && { run }), ...(!flags.all && { hidden: false }), limit: 500 }
  const canvases = await withHub(flags, (hub) => hub.canvas.list(filter))
  if (flags.json) return printJson(canvases)
  if (canvases.length === 0) return say('Nothing is shown. Agents show something with the tool core/canvas.')
  await print(table(canvases.map(row)))
}

async function show(id: string, flags: Flags): Promise<void> {
  const canvas = await withHub(flags, (hub) => findCanvas(hub, id))
  if (flags.json) return printJson(canvas)
  const { title, kind, name, run, caller, tainted, hidden, versions } = canvas
  const marks = [...(tainted ? ['untrusted'] : []), ...(hidden ? ['hidden'] : [])]
  await print(
    escapeText(`${escapeLine(title)}\n  ${[kind, name, ...marks].join(', ')}\n  ${run} by ${escapeLine(caller)}`),
  )
  await print(
    table(
      versions.map(({ n, at, bytes, artifact, callId }) => [`  ${n}`, dateOf(at), `${bytes} bytes`, callId, artifact]),
    ),
  )
}

async function hide(id: string, flags: Flags): Promise<void> {
  await withHub(flags, async (hub) => {
    await findCanvas(hub, id)
    await hub.canvas.hide(id, { by: callerName() })
  })
  await (flags.json ? printJson({ hidden: id }) : print(`Hid ${id}.`))
}

function row({ id, kind, name, title, run, latest, hidden, tainted, updatedAt }: Canvas): string[] {
  const marks = [...(tainted ? ['untrusted'] : []), ...(hidden ? ['hidden'] : [])]
  return [id, kind, name, `version ${latest.n}`, dateOf(updatedAt), run, marks.join(', '), title]
}

function dateOf(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace('T', ' ')
}
