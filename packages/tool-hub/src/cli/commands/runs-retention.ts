import { basename, join } from 'node:path'
import { parseSize } from '@tool-hub/config'
import { escapeLine } from '@tool-hub/core/lib'
import { type PruneReport, pruneRuns, RunIndexer, removeRun } from '@tool-hub/runtime/hub'
import { isLocked } from '@tool-hub/sandbox/system'
import type { Command } from 'commander'
import { interruptSignal, UsageError } from '../exit.ts'
import { readCliConfig } from '../hub/config.ts'
import { openDataStore } from '../hub/data-store.ts'
import { findRun, runsFolder } from '../hub/find-run.ts'
import { withHubOf } from '../hub/with-hub.ts'
import { addConfigOption, parseTime } from '../input/options.ts'
import { callerName } from '../invocation.ts'
import { countNoun } from '../output/layout.ts'
import { print, printJson, say } from '../output/print.ts'

interface PruneFlags {
  readonly config?: string
  readonly olderThan?: string
  readonly maxSize?: string
  readonly dryRun?: boolean
  readonly json?: boolean
}

const PRUNE_EXAMPLES = `
The options, or runs: { keep, size } in the config, say which runs are removed. What was removed stays provable: the store
keeps the heads of each run, and a run-removed event names the last one. Open runs are kept, and so are runs whose record
does not verify. tool-hub serve does the same every hour if the config has keep or size.

Examples:
  tool-hub runs prune --dry-run               what the config would remove
  tool-hub runs prune --older-than 90d
  tool-hub runs prune --max-size 20GB`

/** `runs prune`: removes old runs, on record. */
export function describeRunsPrune(command: Command): void {
  addConfigOption(command)
    .description('Remove the oldest runs, by age or by size, and record what was removed.')
    .option('--older-than <time>', 'Remove runs whose last record is older than this: 90d')
    .option('--max-size <size>', 'Remove the oldest runs until the rest take at most this: 20GB')
    .option('--dry-run', 'List what would be removed, without removing it')
    .addHelpText('after', PRUNE_EXAMPLES)
    .action(prune)
}

async function prune(flags: PruneFlags): Promise<void> {
  const folder = await runsFolder(flags)
  const { options, service } = await readCliConfig({ ...flags, plugins: false })
  const { keepMs, maxBytes } = boundsOf(flags) ?? service.retention ?? {}
  if (keepMs === undefined && maxBytes === undefined)
    throw new UsageError(
      'Nothing says which runs are too old.',
      'Give --older-than 90d or --max-size 20GB, or set runs: { keep: 90d } in the config.',
    )
  const store = options.store ?? openDataStore(options)
  const bounds = { keepMs, maxBytes, dryRun: flags.dryRun ?? false, signal: interruptSignal() }
  try {
    const report = await withHubOf({ ...options, store }, (hub) =>
      pruneRuns({
        retention: hub.retention,
        ...bounds,
        runsFolder: folder,
        store,
        by: callerName(),
        now: Date.now(),
        except: [hub.run],
        record: (change) => hub.recordChange(change),
      }),
    )
    await (flags.json ? printJson(report) : printReport(report, flags))
  } finally {
    if (!options.store) await store.close()
  }
}

function boundsOf({ olderThan, maxSize }: PruneFlags) {
  if (olderThan === undefined && maxSize === undefined) return undefined
  return {
    ...(olderThan !== undefined && { keepMs: parseTime('--older-than', olderThan) }),
    ...(maxSize !== undefined && { maxBytes: sizeOf(maxSize) }),
  }
}

function sizeOf(text: string): number {
  try {
    return parseSize(text)
  } catch {
    throw new UsageError(`--max-size ${JSON.stringify(text)} is not a size.`, 'Use 500MB, 20GB or 10GiB.')
  }
}

async function printReport({ removed, kept, bytes }: PruneReport, { dryRun }: PruneFlags): Promise<void> {
  if (removed.length > 0) await print(removed.map(({ run }) => run).join('\n'))
  for (const { run, why } of kept) say(`Kept ${run}: ${escapeLine(why)}`)
  const freed = removed.reduce((sum, run) => sum + run.bytes, 0)
  const left = bytes === undefined ? '' : `; ${countNoun(bytes, 'byte')} are left`
  const verb = dryRun ? 'Would remove' : 'Removed'
  say(`${verb} ${countNoun(removed.length, 'run')} with ${countNoun(freed, 'byte')}${left}.`)
}

interface ReindexFlags {
  readonly config?: string
  readonly json?: boolean
}

const REINDEX_EXAMPLES = `
The index only helps to find things in the records, and it is kept up to date. Rebuild it after removing runs by hand, or if
a list and a record differ. A service may keep running meanwhile.

Examples:
  tool-hub runs reindex`

/** `runs reindex`: the index over all records, built anew. */
export function describeRunsReindex(command: Command): void {
  addConfigOption(command)
    .description('Rebuild the index of the run records, from the records alone.')
    .addHelpText('after', REINDEX_EXAMPLES)
    .action(reindex)
}

async function reindex(flags: ReindexFlags): Promise<void> {
  const folder = await runsFolder(flags)
  const { options } = await readCliConfig({ ...flags, plugins: false })
  const { openStoreOf } = await import('@tool-hub/library/stores')
  const store = openStoreOf(options)
  try {
    const report = await new RunIndexer({ calls: store.calls, runsFolder: folder }).reindex()
    if (flags.json) return await printJson(report)
    say(`Indexed ${countNoun(report.runs, 'run')} of ${folder}, with ${countNoun(report.calls, 'line')} of calls.`)
  } finally {
    await store.close()
  }
}

interface RemoveFlags {
  readonly config?: string
}

const REMOVE_EXAMPLES = `
Removes the record, the artifacts, the workspace and what undo needs. Who removed the run stays on record: in the store, and
as run-removed in a new run. If you remove the folder by hand instead, audit verify reports the run as BROKEN.

Examples:
  tool-hub runs remove run-20261115-093000-1a2b3c4d`

/** `runs remove`: takes a run away, on record. */
export function describeRunsRemove(command: Command): void {
  addConfigOption(command)
    .description('Remove the folder of a run, and record the removal.')
    .argument('<run>', 'Id of the run or the beginning of it')
    .addHelpText('after', REMOVE_EXAMPLES)
    .action(remove)
}

async function remove(wanted: string, flags: RemoveFlags): Promise<void> {
  const root = await runsFolder(flags)
  const folder = await findRun(root, wanted)
  const run = basename(folder)
  if (await isLocked(join(folder, 'lock')))
    throw new UsageError(`Run ${run} is open.`, 'Close the hub that writes it, or wait until it ends.')
  const { options } = await readCliConfig({ ...flags, plugins: false })
  const store = options.store ?? openDataStore(options)
  const by = callerName()
  try {
    await withHubOf({ ...options, store }, (hub) =>
      removeRun(run, {
        runsFolder: root,
        store,
        retention: hub.retention,
        by,
        now: Date.now(),
        record: (change) => hub.recordChange(change),
      }),
    )
  } finally {
    if (!options.store) await store.close()
  }
  say(`Removed run ${run}.`)
}
