import { basename, join } from 'node:path'
import type { Command } from 'commander'
import { removeRun } from '../../hub/index.ts'
import { isLocked } from '../../system/index.ts'
import { callerName } from '../hub/caller-name.ts'
import { findRun, runsFolder } from '../hub/find-run.ts'
import { openDataStore } from '../hub/open-data-store.ts'
import { readCliConfig } from '../hub/read-config.ts'
import { withHubOf } from '../hub/with-hub.ts'
import { addConfigOption } from '../input/add-options.ts'
import { say } from '../output/print.ts'
import { UsageError } from '../usage-error.ts'

interface Flags {
  readonly config?: string
}

const EXAMPLES = `
The folder goes with its record, its artifacts, its workspace and what undo needs. Who removed it stays on record: in
the store, and as run-removed in a run of its own. A run whose folder is removed by hand is BROKEN to audit verify.

Examples:
  tool-hub runs remove run-20261115-093000-1a2b3c4d`

/** `runs remove`: takes a run away, on record. */
export function describeRunsRemove(command: Command): void {
  addConfigOption(command)
    .description('Remove the folder of a run, and put on record that it was removed.')
    .argument('<run>', 'Id of the run or the beginning of it')
    .addHelpText('after', EXAMPLES)
    .action(remove)
}

async function remove(wanted: string, flags: Flags): Promise<void> {
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
      removeRun(run, { runsFolder: root, store, by, now: Date.now(), record: (change) => hub.recordChange(change) }),
    )
  } finally {
    if (!options.store) await store.close()
  }
  say(`Removed run ${run}.`)
}
