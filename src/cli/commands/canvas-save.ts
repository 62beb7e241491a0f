import { writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { errnoOf, escapeText } from '../../lib/index.ts'
import { UsageError } from '../exit.ts'
import { type HubFlags, withHub } from '../hub/with-hub.ts'
import { addConfigOption } from '../input/options.ts'
import { countNoun } from '../output/layout.ts'
import { printJson, say } from '../output/print.ts'
import { findCanvas } from './canvas-find.ts'

type Flags = HubFlags & {
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
export function describeCanvasSave(command: Command): void {
  addConfigOption(command)
    .description('Save what an agent gave for a canvas, or with --page a page that shows it.')
    .argument('<id>', 'Id of the canvas')
    .requiredOption('--out <file>', 'The new file')
    .option('--of-version <n>', 'Which version. Default: the latest')
    .option('--page', 'The page that shows it, with all that it needs')
    .addHelpText('after', EXAMPLES)
    .action(save)
}

async function save(
  id: string,
  { out, page, ofVersion, ...flags }: Flags & { readonly ofVersion?: string },
): Promise<void> {
  const version = readVersion(ofVersion)
  const text = await withHub(flags, async (hub) => {
    await findCanvas(hub, id)
    if (page) return hub.canvas.document(id, version === undefined ? {} : { version })
    return (await hub.canvas.content(id, version)).text
  })
  await write(text, out)
  const bytes = Buffer.byteLength(text)
  if (flags.json) return printJson({ saved: id, out, bytes })
  say(`Wrote ${countNoun(bytes, 'byte')} to ${escapeText(out)}.`)
}

function readVersion(written: string | undefined): number | undefined {
  if (written === undefined) return undefined
  if (/^[1-9]\d{0,8}$/.test(written)) return Number(written)
  throw new UsageError(`${JSON.stringify(written)} is no version.`, 'Give a number from 1 up: tool-hub canvas show ID.')
}

async function write(text: string, file: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx' })
  } catch (error) {
    const why = errnoOf(error) === 'EEXIST' ? 'is there already' : `cannot be written (${errnoOf(error)})`
    throw new UsageError(`${file} ${why}.`, 'Name another file.')
  }
}
