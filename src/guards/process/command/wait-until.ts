import type { Clock } from '../../../clock.ts'
import { throwIfAborted } from '../../throw-if-aborted.ts'

/** How long to wait, and for whom. */
export interface Patience {
  readonly withinMs?: number
  readonly signal?: AbortSignal
}

/** Waits for something that calls `done`; false when the time was over before, an error when the signal was. */
export async function waitUntil(
  watch: (done: () => void) => () => void,
  { withinMs, signal }: Patience,
  clock: Clock,
): Promise<boolean> {
  if (signal) throwIfAborted(signal)
  const leave: (() => void)[] = []
  try {
    return await new Promise<boolean>((resolve, reject) => {
      leave.push(watch(() => resolve(true)))
      if (withinMs !== undefined) leave.push(clock.after(Math.max(0, withinMs), () => resolve(false)))
      if (!signal) return
      const stop = () => reject(signal.reason)
      signal.addEventListener('abort', stop)
      leave.push(() => signal.removeEventListener('abort', stop))
    })
  } catch (reason) {
    if (signal) throwIfAborted(signal)
    throw reason
  } finally {
    for (const end of leave) end()
  }
}
