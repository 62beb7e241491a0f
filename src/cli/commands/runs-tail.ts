import type { Command } from 'commander'
import { tailEvents } from '../../record/tail-events.ts'
import { findRun, runsFolder } from '../hub/find-run.ts'
import { addConfigOption } from '../input/add-options.ts'
import { interruptSignal } from '../interrupt.ts'
import { print, printJsonLine, readerGone } from '../output/print.ts'
import { Timeline } from '../output/timeline.ts'

const EXAMPLES = `
Ends when the run is closed, or with Ctrl-C.

Examples:
  tool-hub runs tail
  tool-hub runs tail run-20261115-093000-1a2b3c4d --json`

/** `runs tail`: a run as it happens. */
export function describeRunsTail(command: Command): void {
  addConfigOption(command)
    .description('Follow a run as it happens, from its beginning; with --json the events.')
    .argument('[id]', 'Id of the run or the beginning of it; the latest run unless said')
    .addHelpText('after', EXAMPLES)
    .action(tail)
}

async function tail(
  id: string | undefined,
  flags: { readonly config?: string; readonly json?: boolean },
): Promise<void> {
  const folder = await findRun(await runsFolder(flags), id)
  const timeline = new Timeline()
  const signal = AbortSignal.any([interruptSignal(), readerGone])
  for await (const event of tailEvents(folder, { signal })) {
    await (flags.json ? printJsonLine(event) : print(timeline.line(event)))
  }
}
