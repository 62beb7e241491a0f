import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { type RecordEvent, readEvents, tailEvents } from '../../records/log/index.ts'
import { isLocked } from '../../system/index.ts'
import { findOpenRun, findRun, runsFolder } from '../hub/find-run.ts'
import { addConfigOption } from '../input/add-options.ts'
import { interruptSignal } from '../interrupt.ts'
import { print, printJsonLine, readerGone, say } from '../output/print.ts'
import { Timeline } from '../output/timeline.ts'
import { printToolEvents, TOOL_EVENTS } from '../output/tool-events.ts'
import { ownCommand } from '../own-command.ts'

interface Flags {
  readonly config?: string
  readonly json?: boolean
  readonly toolEvents?: boolean
}

const LOOK_MS = 500

const EXAMPLES = `
Ends when the run is closed, when its process is gone, or with Ctrl-C.

Examples:
  tool-hub runs tail
  tool-hub runs tail run-20261115-093000-1a2b3c4d --json`

/** `runs tail`: a run as it happens. */
export function describeRunsTail(command: Command): void {
  addConfigOption(command)
    .description('Follow a run as it happens, from its beginning; with --json the events.')
    .argument('[id]', 'Id of the run or the beginning of it. Default: the newest run that is open')
    .option('--tool-events', TOOL_EVENTS)
    .addHelpText('after', EXAMPLES)
    .action(tail)
}

async function tail(id: string | undefined, flags: Flags): Promise<void> {
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
