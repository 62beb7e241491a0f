import { type Clock, ToolError } from '../../core/index.ts'
import { untilAborted } from '../../lib/index.ts'
import { LOOK_THERE } from './send-errors.ts'

/** How long one message may take, unless its channel says. */
export const TIMEOUT_MS = 30_000

/** How long something may take, and who else may end it. */
export interface Deadline {
  readonly timeoutMs: number
  readonly signals: readonly AbortSignal[]
  readonly clock: Clock
  readonly channel: string
}

/** Does something that ends when its time is over, even when it does not listen to the signal. */
export async function withDeadline<T>(deadline: Deadline, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { timeoutMs, signals, clock, channel } = deadline
  const over = new AbortController()
  const signal = AbortSignal.any([...signals, over.signal])
  signal.throwIfAborted()
  const cancel = clock.after(timeoutMs, () => over.abort(tooLong(channel, timeoutMs)))
  try {
    return await untilAborted(work(signal), signal)
  } finally {
    cancel()
  }
}

function tooLong(channel: string, timeoutMs: number): ToolError {
  const message = `The channel ${channel} did not answer in ${timeoutMs} ms; it is not known whether the message arrived.`
  return new ToolError('HTTP_TIMEOUT', message, {
    hint: LOOK_THERE,
    retryable: false,
    details: { isUnknown: true },
  })
}
