import type { Command } from 'commander'
import { parseSize } from '../../config/index.ts'
import { type PruneReport, pruneRuns } from '../../hub/index.ts'
import { escapeLine } from '../../lib/index.ts'
import { callerName } from '../hub/caller-name.ts'
import { runsFolder } from '../hub/find-run.ts'
import { openDataStore } from '../hub/open-data-store.ts'
import { readCliConfig } from '../hub/read-config.ts'
import { withHubOf } from '../hub/with-hub.ts'
import { addConfigOption } from '../input/add-options.ts'
import { parseTime } from '../input/parse-time.ts'
import { interruptSignal } from '../interrupt.ts'
import { countNoun } from '../output/count.ts'
import { print, printJson, say } from '../output/print.ts'
import { UsageError } from '../usage-error.ts'

interface Flags {
  readonly config?: string
  readonly olderThan?: string
  readonly maxSize?: string
  readonly dryRun?: boolean
  readonly json?: boolean
}

const EXAMPLES = `
Removes the oldest runs, as runs: { keep, size } of the config says, or the options. What was removed stays provable: the
store keeps the heads of each run, and a run-removed line names the last one. A run that is open is kept, and so is one
whose record does not verify. tool-hub serve does the same by itself, every hour, if the config has keep or size.

Examples:
  tool-hub runs prune --dry-run               what the config would remove
  tool-hub runs prune --older-than 90d
  tool-hub runs prune --max-size 20GB`

/** `runs prune`: removes old runs, on record. */
export function describeRunsPrune(command: Command): void {
  addConfigOption(command)
    .description('Remove the oldest runs, by age or by size, and put on record what was removed.')
    .option('--older-than <time>', 'Remove runs that nothing was recorded in for so long: 90d')
    .option('--max-size <size>', 'Remove the oldest runs until all take at most this: 20GB')
    .option('--dry-run', 'Only list what would be removed')
    .addHelpText('after', EXAMPLES)
    .action(prune)
}

async function prune(flags: Flags): Promise<void> {
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
        ...bounds,
        runsFolder: folder,
        store,
        by: callerName(),
        now: Date.now(),
        except: [hub.run],
        record: (change) => hub.recordChange(change),
      }),
    )
    await (flags.json ? printJson(report) : tell(report, flags))
  } finally {
    if (!options.store) await store.close()
  }
}

function boundsOf({ olderThan, maxSize }: Flags) {
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

async function tell({ removed, kept, bytes }: PruneReport, { dryRun }: Flags): Promise<void> {
  if (removed.length > 0) await print(removed.map(({ run }) => run).join('\n'))
  for (const { run, why } of kept) say(`Kept ${run}: ${escapeLine(why)}`)
  const freed = removed.reduce((sum, run) => sum + run.bytes, 0)
  const left = bytes === undefined ? '' : `; ${countNoun(bytes, 'byte')} are left`
  const verb = dryRun ? 'Would remove' : 'Removed'
  say(`${verb} ${countNoun(removed.length, 'run')} with ${countNoun(freed, 'byte')}${left}.`)
}
