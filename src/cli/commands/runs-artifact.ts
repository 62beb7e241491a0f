import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { artifactHash } from '../../core/index.ts'
import { errnoOf, escapeText } from '../../lib/index.ts'
import { Artifacts } from '../../records/artifacts/index.ts'
import { listRuns } from '../../records/log/index.ts'
import { findRun, runsFolder } from '../hub/find-run.ts'
import { addConfigOption } from '../input/add-options.ts'
import { countNoun } from '../output/count.ts'
import { print, printBytes, printJson, say } from '../output/print.ts'
import { UsageError } from '../usage-error.ts'

interface Flags {
  readonly config?: string
  readonly run?: string
  readonly out?: string
  readonly json?: boolean
}

const EXAMPLES = `
The content is checked against its hash. In a pipe or a file it is exact to the byte.

Examples:
  tool-hub runs artifact artifact:9f86d081884c7d65… | less
  tool-hub runs artifact artifact:9f86d081884c7d65… --out page.html`

/** `runs artifact`: what was too large for a result. */
export function describeRunsArtifact(command: Command): void {
  addConfigOption(command)
    .description('Return an artifact: what a result kept aside because it was too large, by its reference.')
    .argument('<ref>', 'artifact:<sha256>, as the result says it')
    .option('--run <id>', 'The run that made it, by its id or the beginning of it. Default: all of them')
    .option('--out <file>', 'Write it to this new file')
    .addHelpText('after', EXAMPLES)
    .action(give)
}

async function give(ref: string, flags: Flags): Promise<void> {
  const bytes = await new Artifacts(await folderOf(ref, flags), { isDurable: false }).read(ref)
  if (flags.out !== undefined) await save(bytes, flags.out)
  if (flags.json) return printJson({ ref, bytes: bytes.byteLength, ...(flags.out !== undefined && { out: flags.out }) })
  if (flags.out !== undefined) return say(`Wrote ${countNoun(bytes.byteLength, 'byte')} to ${escapeText(flags.out)}.`)
  // Exact in a pipe, where it is data; harmless on a terminal.
  await (process.stdout.isTTY ? print(escapeText(Buffer.from(bytes).toString('utf8'))) : printBytes(bytes))
}

/** Equal content has one name, so the newest run that has it will do. */
async function folderOf(ref: string, flags: Flags): Promise<string> {
  const hash = artifactHash(ref)
  if (hash === undefined)
    throw new UsageError(`${JSON.stringify(ref.slice(0, 100))} is no reference.`, 'Give artifact: and 64 hex digits.')
  const root = await runsFolder(flags)
  const runs =
    flags.run === undefined
      ? (await listRuns(root)).map(({ id }) => join(root, id)).toReversed()
      : [await findRun(root, flags.run)]
  const found = runs.map((run) => join(run, 'artifacts')).find((folder) => existsSync(join(folder, hash)))
  if (found !== undefined) return found
  throw new UsageError(`No run in ${root} has ${ref}.`, 'Take the reference as the result of the call says it.')
}

async function save(bytes: Uint8Array, file: string): Promise<void> {
  try {
    await writeFile(file, bytes, { flag: 'wx' })
  } catch (error) {
    const why = errnoOf(error) === 'EEXIST' ? 'is there already' : `cannot be written (${errnoOf(error)})`
    throw new UsageError(`${file} ${why}.`, 'Name another file.')
  }
}
