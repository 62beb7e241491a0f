import { isBelow } from '../open-roots.ts'

/** Runs a job when all earlier ones that touch one of its paths, or what is above or below it, have ended. */
export type PathQueue = <T>(paths: readonly string[], job: () => Promise<T>) => Promise<T>

/**
 * Makes a queue for changes. A job takes its place for all of its paths at once, so two jobs never wait for each other.
 */
export function createPathQueue(): PathQueue {
  const underWay = new Map<Promise<unknown>, readonly string[]>()
  return async (paths, job) => {
    const earlier: Promise<unknown>[] = []
    for (const [ended, taken] of underWay) if (overlaps(paths, taken)) earlier.push(ended)
    const done = earlier.length === 0 ? job() : Promise.allSettled(earlier).then(job)
    underWay.set(done, paths)
    try {
      return await done
    } finally {
      underWay.delete(done)
    }
  }
}

function overlaps(paths: readonly string[], others: readonly string[]): boolean {
  return paths.some((path) => others.some((other) => isBelow(path, other) || isBelow(other, path)))
}
