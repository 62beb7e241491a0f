import { setMaxListeners } from 'node:events'
import type { Clock } from '../../clock.ts'
import { ToolError } from '../../errors.ts'
import { throwIfAborted } from '../throw-if-aborted.ts'

/** One time limit over everything that a request needs: names, connections, hops and the body. */
export interface Deadline {
  /** Aborts when the time is over or the caller stops. */
  readonly signal: AbortSignal
  /** Throws HTTP_TIMEOUT or the caller's reason once the signal has fired. */
  check(): void
  /** Waits for something that cannot be stopped, no longer than the deadline. */
  race<T>(promise: Promise<T>): Promise<T>
  stop(): void
}

/** Starts the time of one request. */
export function startDeadline(caller: AbortSignal, timeoutMs: number, clock: Clock): Deadline {
  const controller = new AbortController()
  let giveUp: (reason: unknown) => void = () => {}
  const over = new Promise<never>((_, reject) => {
    giveUp = reject
  })
  // Nobody may be waiting when it is over; whoever is hears it through `race`.
  over.catch(() => {})
  const end = (reason: unknown) => {
    controller.abort(reason)
    giveUp(reason)
  }
  const stopTimer = clock.after(timeoutMs, () =>
    end(new ToolError('HTTP_TIMEOUT', `The request did not finish in ${timeoutMs} ms.`)),
  )
  const forward = () => end(caller.reason)
  // A tool may send many requests at once, and every listener goes when its request ends: no leak to warn of.
  setMaxListeners(0, caller)
  caller.addEventListener('abort', forward, { once: true })
  if (caller.aborted) forward()
  return {
    signal: controller.signal,
    check: () => throwIfAborted(controller.signal),
    race: (promise) => Promise.race([promise, over]),
    stop() {
      stopTimer()
      caller.removeEventListener('abort', forward)
    },
  }
}
