import type { Clock } from '../../core/index.ts'

/** Waits, without holding up the end of the process; rejects when it is stopped. */
export function waitUnlessAborted(ms: number, clock: Clock, signal?: AbortSignal): Promise<undefined> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      cancel()
      reject(signal?.reason)
    }
    const finish = () => {
      signal?.removeEventListener('abort', stop)
      resolve(undefined)
    }
    const cancel = clock.after(ms, finish, { background: true })
    signal?.addEventListener('abort', stop)
    if (signal?.aborted) stop()
  })
}
