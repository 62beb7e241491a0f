import type { Clock } from '../../../core/index.ts'
import { throwIfAborted } from '../../throw-if-aborted.ts'

/** How long to wait. */
export interface WaitLimits {
  readonly withinMs?: number
  readonly signal?: AbortSignal
}

/**
 * Waits until `watch` calls `done`. Returns false if the time was over before; throws if the signal was aborted before.
 * `watch` returns a function that ends the watch.
 */
export async function waitUntil(
  watch: (done: () => void) => () => void,
  { withinMs, signal }: WaitLimits,
  clock: Clock,
): Promise<boolean> {
  if (signal) throwIfAborted(signal)
  const cleanups: (() => void)[] = []
  try {
    return await new Promise<boolean>((resolve, reject) => {
      cleanups.push(watch(() => resolve(true)))
      if (withinMs !== undefined) cleanups.push(clock.after(Math.max(0, withinMs), () => resolve(false)))
      if (!signal) return
      const stop = () => reject(signal.reason)
      signal.addEventListener('abort', stop)
      cleanups.push(() => signal.removeEventListener('abort', stop))
    })
  } catch (reason) {
    if (signal) throwIfAborted(signal)
    throw reason
  } finally {
    for (const cleanup of cleanups) cleanup()
  }
}
