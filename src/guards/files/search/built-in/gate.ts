import { throwIfAborted } from '../../../throw-if-aborted.ts'

/** Lets at most so many run at once; the others wait in order, and leave when they are aborted. */
export function createGate(most: number): <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  const leave = () => {
    const next = waiting.shift()
    if (next) next()
    else running -= 1
  }
  /** True when it was let in, false when it was aborted before. */
  const wait = (signal: AbortSignal): Promise<boolean> =>
    new Promise((resolve) => {
      const enter = () => {
        signal.removeEventListener('abort', giveUp)
        resolve(true)
      }
      const giveUp = () => {
        waiting.splice(waiting.indexOf(enter), 1)
        resolve(false)
      }
      waiting.push(enter)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  return async (work, signal) => {
    throwIfAborted(signal)
    if (running < most) running += 1
    else if (!(await wait(signal))) throwIfAborted(signal)
    try {
      return await work()
    } finally {
      leave()
    }
  }
}
