import type { Command } from 'commander'
import { listRuns, type RunInfo } from '../../records/log/index.ts'
import { runsFolder } from '../hub/find-run.ts'
import { addDefaultList } from '../input/add-default-list.ts'
import { addConfigOption } from '../input/add-options.ts'
import { countNoun } from '../output/count.ts'
import { print, printJson, say } from '../output/print.ts'
import { table } from '../output/table.ts'
import { describeRunsArtifact } from './runs-artifact.ts'
import { describeRunsPrune } from './runs-prune.ts'
import { describeRunsReindex } from './runs-reindex.ts'
import { describeRunsRemove } from './runs-remove.ts'
import { describeRunsShow } from './runs-show.ts'
import { describeRunsTail } from './runs-tail.ts'

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
  command.description(
    'List runs, show one as a timeline, follow one, print an artifact of one, remove one or those that are too old.',
  )
  addConfigOption(addDefaultList(command, 'List the runs, oldest first')).action(list)
  command.addHelpText('after', EXAMPLES)
  describeRunsShow(command.command('show').summary('Show what happened in a run'))
  describeRunsTail(command.command('tail').summary('Follow a run as it happens'))
  describeRunsArtifact(command.command('artifact').summary('Print what was too large for a result'))
  describeRunsRemove(command.command('remove').summary('Remove a run, on record'))
  describeRunsPrune(command.command('prune').summary('Remove old runs, on record'))
  describeRunsReindex(command.command('reindex').summary('Build the index over the records anew'))
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
