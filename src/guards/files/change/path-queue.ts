import { throwIfAborted } from '../../throw-if-aborted.ts'
import { isBelow } from '../open-roots.ts'

/**
 * Runs a job when all earlier ones that touch one of its paths, or what is above or below it, have ended. A job that
 * has to wait asks for the signal, and leaves when it is stopped.
 */
export type PathQueue = <T>(paths: readonly string[], job: () => Promise<T>, signal?: () => AbortSignal) => Promise<T>

/**
 * Makes a queue for changes. A job takes its place for all of its paths at once, so two jobs never wait for each other;
 * and each waits itself for all that are before it, so one that leaves lets nobody pass too early.
 */
export function createPathQueue(): PathQueue {
  const underWay = new Map<Promise<unknown>, readonly string[]>()
  return async (paths, job, signal) => {
    const earlier: Promise<unknown>[] = []
    for (const [ended, taken] of underWay) if (overlaps(paths, taken)) earlier.push(ended)
    const done = earlier.length === 0 ? job() : allEnded(earlier, signal?.()).then(job)
    underWay.set(done, paths)
    try {
      return await done
    } finally {
      underWay.delete(done)
    }
  }
}

async function allEnded(earlier: readonly Promise<unknown>[], signal: AbortSignal | undefined): Promise<void> {
  const ended = Promise.allSettled(earlier)
  if (!signal) return void (await ended)
  if (!signal.aborted) await Promise.race([ended, stopOf(signal)])
  throwIfAborted(signal)
}

/** One listener a signal, however many changes of a call wait. */
const stops = new WeakMap<AbortSignal, Promise<void>>()

function stopOf(signal: AbortSignal): Promise<void> {
  const present = stops.get(signal)
  if (present) return present
  const stop = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  stops.set(signal, stop)
  return stop
}

function overlaps(paths: readonly string[], others: readonly string[]): boolean {
  return paths.some((path) => others.some((other) => isBelow(path, other) || isBelow(other, path)))
}
