import { type Clock, systemClock } from '../../core/index.ts'
import type { RecordEvent } from './events.ts'
import { eventLines, parseEvent } from './read-events.ts'

const LOOK_MS = 200

/** How to follow a run. */
interface TailOptions {
  /** Begin with this seq. Default: with the run's first event. */
  readonly from?: number
  readonly signal?: AbortSignal
  readonly clock?: Clock
}

/** The events of a run as they are written, until the run is closed or the signal aborts. Any process can watch. */
export async function* tailEvents(folder: string, options: TailOptions = {}): AsyncGenerator<RecordEvent> {
  const { from = 1, signal, clock = systemClock } = options
  let position = 0
  let isClosed = false
  while (!signal?.aborted) {
    for await (const lines of eventLines(folder, position)) {
      for (const line of lines) {
        position = line.end
        const event = parseEvent(line)
        if (!event) continue
        isClosed = event.type === 'run-closed'
        if (event.seq >= from) yield event
        if (signal?.aborted) return
      }
    }
    // Only at the end of the file: a run that was closed can have been opened again.
    if (isClosed) return
    await pause(clock, signal)
  }
}

/** Looks again after a while; watching a file is not reliable on every system, and a look costs next to nothing. */
function pause(clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      cancel()
      signal?.removeEventListener('abort', stop)
      resolve()
    }
    const cancel = clock.after(LOOK_MS, stop)
    signal?.addEventListener('abort', stop)
  })
}
