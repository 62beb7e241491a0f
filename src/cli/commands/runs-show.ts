import type { Command } from 'commander'
import { readEvents } from '../../records/log/index.ts'
import { findRun, runsFolder } from '../hub/find-run.ts'
import { addConfigOption } from '../input/add-options.ts'
import { print, printJsonLine, readerGone } from '../output/print.ts'
import { Timeline } from '../output/timeline.ts'
import { printToolEvents, TOOL_EVENTS } from '../output/tool-events.ts'

const EXAMPLES = `
Examples:
  tool-hub runs show                    the latest run
  tool-hub runs show run-20261115-093000-1a2b3c4d
  tool-hub runs show --json | jq 'select(.type == "call-ended")'
  tool-hub runs show --tool-events | jq 'select(.type == "tool.failed")'`

/** `runs show`: a run as a timeline. */
export function describeRunsShow(command: Command): void {
  addConfigOption(command)
    .description('Show what happened in a run, a line each event, nested calls indented; with --json the events.')
    .argument('[id]', 'Id of the run or the beginning of it. Default: the latest run')
    .option('--tool-events', TOOL_EVENTS)
    .addHelpText('after', EXAMPLES)
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
