import type { Command } from 'commander'
import type { CommandFlags, CommandKit, FeatureServices } from '../../core/index.ts'
import { escapeText } from '../../lib/index.ts'
import type { CanvasDetail } from './types.ts'

type SaveFlags = CommandFlags & {
  readonly json?: boolean
  readonly out: string
  readonly version?: string
  readonly page?: boolean
  readonly ofVersion?: string
}

const EXAMPLES = `
The page shows the canvas as the console does, in a frame without network; it needs no server.

Examples:
  tool-hub canvas save canvas-b513ab00c0dc9f03 --out chart.json
  tool-hub canvas save canvas-b513ab00c0dc9f03 --of-version 2 --page --out chart.html`

/** `canvas save`: the content of a canvas, or the page that shows it, in a file. */
export function describeCanvasSave(command: Command, kit: CommandKit): void {
  kit
    .addConfigOption(command)
    .description('Save what an agent gave for a canvas, or with --page a page that shows it.')
    .argument('<id>', 'Id of the canvas')
    .requiredOption('--out <file>', 'The new file')
    .option('--of-version <n>', 'Which version. Default: the latest')
    .option('--page', 'The page that shows it, with all that it needs')
    .addHelpText('after', EXAMPLES)
    .action((id: string, flags: SaveFlags & { readonly ofVersion?: string }) => save(kit, id, flags))
}

async function save(
  kit: CommandKit,
  id: string,
  { out, page, ofVersion, ...flags }: SaveFlags & { readonly ofVersion?: string },
): Promise<void> {
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

/** The canvas of an id; says what to do when there is none. */
export async function findCanvas(kit: CommandKit, { canvas }: FeatureServices, id: string): Promise<CanvasDetail> {
  const found = await canvas.find(id)
  if (found) return found
  throw kit.usageError(`There is no canvas ${JSON.stringify(id)}.`, 'List them with tool-hub canvas --all.')
}

function readVersion(kit: CommandKit, written: string | undefined): number | undefined {
  if (written === undefined) return undefined
  if (/^[1-9]\d{0,8}$/.test(written)) return Number(written)
  throw kit.usageError(`${JSON.stringify(written)} is no version.`, 'Give a number from 1 up: tool-hub canvas show ID.')
}
