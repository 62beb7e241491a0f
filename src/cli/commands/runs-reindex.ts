import { resolve } from 'node:path'
import type { Command } from 'commander'
import { RunIndexer } from '../../hub/index.ts'
import { runsFolder } from '../hub/find-run.ts'
import { readCliConfig } from '../hub/read-config.ts'
import { addConfigOption } from '../input/add-options.ts'
import { countNoun } from '../output/count.ts'
import { printJson, say } from '../output/print.ts'

interface Flags {
  readonly config?: string
  readonly json?: boolean
}

const EXAMPLES = `
The records are the truth, the index only finds things in them. It keeps itself up to date; build it anew after
removing runs, or when a list does not say what a record says. A service may go on meanwhile.

Examples:
  tool-hub runs reindex`

/** `runs reindex`: the index over all records, built anew. */
export function describeRunsReindex(command: Command): void {
  addConfigOption(command)
    .description('Build the index over the run records anew, from the records alone.')
    .addHelpText('after', EXAMPLES)
    .action(reindex)
}

async function reindex(flags: Flags): Promise<void> {
  const folder = await runsFolder(flags)
  const { options } = await readCliConfig({ ...flags, plugins: false })
  const { openStore } = await import('../../store/index.ts')
  const store = openStore(resolve(options.data ?? '.tool-hub'))
  try {
    const report = await new RunIndexer({ calls: store.calls, runsFolder: folder }).reindex()
    if (flags.json) return await printJson(report)
    say(`Indexed ${countNoun(report.runs, 'run')} of ${folder}, with ${countNoun(report.calls, 'line')} of calls.`)
  } finally {
    await store.close()
  }
}
