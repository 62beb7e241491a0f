import type { Clock } from '../../core/index.ts'

/** What a work gives when it is done in time; its error, or `late()`, otherwise. */
export function withinTime<T>(work: Promise<T>, ms: number, clock: Clock, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => reject(late()))
    work.then(resolve, reject).finally(cancel)
  })
}
