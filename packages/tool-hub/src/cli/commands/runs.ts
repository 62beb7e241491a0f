import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { artifactHash, errnoOf, escapeLine, escapeText } from '@tool-hub/core/lib'
import { Artifacts } from '@tool-hub/runtime/records/artifacts'
import { listRuns, type RecordEvent, type RunInfo, readEvents, tailEvents } from '@tool-hub/runtime/records/log'
import { isLocked } from '@tool-hub/sandbox/system'
import type { Command } from 'commander'
import { interruptSignal, UsageError } from '../exit.ts'
import { readCliConfig } from '../hub/config.ts'
import { findOpenRun, findRun, runsFolder } from '../hub/find-run.ts'
import { withHubOf } from '../hub/with-hub.ts'
import { addConfigOption, addDefaultList } from '../input/options.ts'
import { callerName, ownCommand } from '../invocation.ts'
import { countNoun, table } from '../output/layout.ts'
import { print, printBytes, printJson, printJsonLine, readerGone, say } from '../output/print.ts'
import { printToolEvents, Timeline, TOOL_EVENTS } from '../output/timeline.ts'
import { describeRunsPrune, describeRunsReindex, describeRunsRemove } from './runs-retention.ts'

interface Flags {
  readonly config?: string
  readonly json?: boolean
}

const EXAMPLES = `
Examples:
  tool-hub runs
  tool-hub runs show run-20261115       the run whose id begins so
  tool-hub runs tail                    follow the newest run that is open`

/** `runs`: what was done. */
export function describeRuns(command: Command): void {
  command.description('List runs, show or follow one as a timeline, print artifacts, and remove runs.')
  addConfigOption(addDefaultList(command, 'List the runs, oldest first')).action(list)
  command.addHelpText('after', EXAMPLES)
  describeRunsShow(command.command('show').summary('Show what happened in a run'))
  describeRunsTail(command.command('tail').summary('Follow a run as it happens'))
  describeRunsArtifact(
    command.command('artifact').summary('Print an artifact: content that was too large for a result'),
  )
  describeRunsClearTaint(
    command.command('clear-taint').summary('Let a run count as one that has read nothing from outside, on record'),
  )
  describeRunsRemove(command.command('remove').summary('Remove a run; the removal is recorded'))
  describeRunsPrune(command.command('prune').summary('Remove old runs; the removal is recorded'))
  describeRunsReindex(command.command('reindex').summary('Rebuild the index of the records'))
}

async function list(flags: Flags): Promise<void> {
  const folder = await runsFolder(flags)
  const runs = await listRuns(folder)
  if (flags.json) return printJson(runs)
  if (runs.length === 0) return say(`There are no runs in ${folder}.`)
  await print(table(runs.map(row)))
}

function row({ id, state, started, calls, failures }: RunInfo): string[] {
  return [
    id,
    state,
    started.slice(0, 19).replace('T', ' '),
    countNoun(calls, 'call'),
    failures > 0 ? `${failures} failed or denied` : '',
  ]
}

const SHOW_EXAMPLES = `
Examples:
  tool-hub runs show                    the latest run
  tool-hub runs show run-20261115-093000-1a2b3c4d
  tool-hub runs show --json | jq 'select(.type == "call-ended")'
  tool-hub runs show --tool-events | jq 'select(.type == "tool.failed")'`

/** `runs show`: a run as a timeline. */
function describeRunsShow(command: Command): void {
  addConfigOption(command)
    .description('Show what happened in a run, one line per event, nested calls indented; with --json the events.')
    .argument('[id]', 'Id of the run or the beginning of it. Default: the latest run')
    .option('--tool-events', TOOL_EVENTS)
    .addHelpText('after', SHOW_EXAMPLES)
    .action(show)
}

async function show(
  id: string | undefined,
  flags: { readonly config?: string; readonly json?: boolean; readonly toolEvents?: boolean },
): Promise<void> {
  const folder = await findRun(await runsFolder(flags), id)
  const timeline = new Timeline()
  for await (const event of readEvents(folder)) {
    if (flags.toolEvents) await printToolEvents(folder, event)
    else await (flags.json ? printJsonLine(event) : print(timeline.line(event)))
    if (readerGone.aborted) return
  }
}

interface TailFlags {
  readonly config?: string
  readonly json?: boolean
  readonly toolEvents?: boolean
}

const LOOK_MS = 500

const TAIL_EXAMPLES = `
Ends when the run is closed, when its process is gone, or with Ctrl-C.

Examples:
  tool-hub runs tail
  tool-hub runs tail run-20261115-093000-1a2b3c4d --json`

/** `runs tail`: a run as it happens. */
function describeRunsTail(command: Command): void {
  addConfigOption(command)
    .description('Follow a run as it happens, from its beginning; with --json the events.')
    .argument('[id]', 'Id of the run or the beginning of it. Default: the newest run that is open')
    .option('--tool-events', TOOL_EVENTS)
    .addHelpText('after', TAIL_EXAMPLES)
    .action(tail)
}

async function tail(id: string | undefined, flags: TailFlags): Promise<void> {
  const root = await runsFolder(flags)
  const folder = id === undefined ? await findOpenRun(root) : await findRun(root, id)
  if (folder === undefined) return say(`No run is open in ${root}. The latest one: ${ownCommand()} runs show`)
  const timeline = new Timeline()
  let last: RecordEvent | undefined
  for await (const event of untilItsEnd(folder)) {
    last = event
    if (flags.toolEvents) await printToolEvents(folder, event)
    else await (flags.json ? printJsonLine(event) : print(timeline.line(event)))
  }
  if (last?.type !== 'run-closed' && !stopSignal().aborted)
    say('The run was never closed: the process that wrote it is gone.')
}

/** What is written while somebody writes, and then what was written last. */
async function* untilItsEnd(folder: string): AsyncGenerator<RecordEvent> {
  const over = new AbortController()
  let next = 1
  const writer = watchWriter(folder, over)
  for await (const event of tailEvents(folder, { signal: AbortSignal.any([stopSignal(), over.signal]) })) {
    next = event.seq + 1
    yield event
  }
  over.abort()
  await writer
  if (!stopSignal().aborted) yield* readEvents(folder, { from: next })
}

/** Ends the tail when nobody writes the run any more: a crashed one would never be closed. */
async function watchWriter(folder: string, over: AbortController): Promise<void> {
  while (!over.signal.aborted && (await isLocked(join(folder, 'lock')))) {
    // An abort ends the pause, and the loop sees it.
    await sleep(LOOK_MS, undefined, { signal: over.signal }).catch(() => {})
  }
  over.abort()
}

function stopSignal(): AbortSignal {
  return AbortSignal.any([interruptSignal(), readerGone])
}

interface ArtifactFlags {
  readonly config?: string
  readonly run?: string
  readonly out?: string
  readonly json?: boolean
}

const ARTIFACT_EXAMPLES = `
The content is checked against its hash. A pipe or a file gets exactly its bytes.

Examples:
  tool-hub runs artifact artifact:9f86d081884c7d65… | less
  tool-hub runs artifact artifact:9f86d081884c7d65… --out page.html`

/** `runs artifact`: what was too large for a result. */
function describeRunsArtifact(command: Command): void {
  addConfigOption(command)
    .description('Print an artifact by its reference: content that was too large for a result.')
    .argument('<ref>', 'artifact:<sha256>, as in the result of the call')
    .option('--run <id>', 'Run that created it, by its id or the beginning of it. Default: all runs')
    .option('--out <file>', 'Write it to this new file instead of stdout')
    .addHelpText('after', ARTIFACT_EXAMPLES)
    .action(printArtifact)
}

async function printArtifact(ref: string, flags: ArtifactFlags): Promise<void> {
  const bytes = await new Artifacts(await folderOf(ref, flags), { isDurable: false }).read(ref)
  if (flags.out !== undefined) await saveArtifact(bytes, flags.out)
  if (flags.json) return printJson({ ref, bytes: bytes.byteLength, ...(flags.out !== undefined && { out: flags.out }) })
  if (flags.out !== undefined) return say(`Wrote ${countNoun(bytes.byteLength, 'byte')} to ${escapeText(flags.out)}.`)
  // Exact in a pipe, where it is data; harmless on a terminal.
  await (process.stdout.isTTY ? print(escapeText(Buffer.from(bytes).toString('utf8'))) : printBytes(bytes))
}

interface ClearTaintFlags {
  readonly config?: string
  readonly reason: string
  readonly json?: boolean
}

const CLEAR_TAINT_EXAMPLES = `
Look at what the run has read first: tool-hub runs show. Who cleared the taint, why, and what the run had read is recorded.
The next content from outside taints the run again. For a run that a service holds open, use its API:
POST /v1/runs/RUN/clear-taint

Examples:
  tool-hub runs clear-taint run-20261115-093000-1a2b3c4d --reason "The page is our own handbook."`

/** `runs clear-taint`: rules treat the run as one that has read nothing from outside. */
function describeRunsClearTaint(command: Command): void {
  addConfigOption(command)
    .description('Let a run count as one that has read nothing from outside, until it does again.')
    .argument('<run>', 'Id of the run or the beginning of it')
    .requiredOption('--reason <text>', 'Why the content is harmless; it is recorded')
    .addHelpText('after', CLEAR_TAINT_EXAMPLES)
    .action(clearTaint)
}

async function clearTaint(wanted: string, flags: ClearTaintFlags): Promise<void> {
  const folder = await findRun(await runsFolder(flags), wanted)
  const run = basename(folder)
  if (await isLocked(join(folder, 'lock')))
    throw new UsageError(`Run ${run} is open.`, `Use POST /v1/runs/${run}/clear-taint of the service, or end its hub.`)
  const { options } = await readCliConfig({ ...flags, plugins: false })
  const cleared = await withHubOf(options, (hub) => hub.clearTaint(run, { by: callerName(), reason: flags.reason }))
  if (flags.json) return printJson(cleared)
  say(`Cleared the taint of run ${run}. It had read from: ${escapeLine(cleared.sources.join(', '))}`)
}

/** Equal content has one name, so the newest run that has it will do. */
async function folderOf(ref: string, flags: ArtifactFlags): Promise<string> {
  const hash = artifactHash(ref)
  if (hash === undefined)
    throw new UsageError(
      `Invalid artifact reference ${JSON.stringify(ref.slice(0, 100))}.`,
      'Expected artifact: and 64 hex digits.',
    )
  const root = await runsFolder(flags)
  const runs =
    flags.run === undefined
      ? (await listRuns(root)).map(({ id }) => join(root, id)).toReversed()
      : [await findRun(root, flags.run)]
  const found = runs.map((run) => join(run, 'artifacts')).find((folder) => existsSync(join(folder, hash)))
  if (found !== undefined) return found
  throw new UsageError(`No run in ${root} has ${ref}.`, 'Take the reference as the result of the call says it.')
}

async function saveArtifact(bytes: Uint8Array, file: string): Promise<void> {
  try {
    await writeFile(file, bytes, { flag: 'wx' })
  } catch (error) {
    const why = errnoOf(error) === 'EEXIST' ? 'is there already' : `cannot be written (${errnoOf(error)})`
    throw new UsageError(`${file} ${why}.`, 'Name another file.')
  }
}
