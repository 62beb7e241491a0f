/** Runs jobs of the same key one after another, in order; other keys do not wait. */
type QueueByKey = <T>(key: string, job: () => Promise<T>) => Promise<T>

/** Makes a queue that remembers only keys with work under way. */
export function createQueueByKey(): QueueByKey {
  const tails = new Map<string, Promise<unknown>>()
  return async (key, job) => {
    const before = tails.get(key)
    const done = before ? before.then(job, job) : job()
    tails.set(key, done)
    try {
      return await done
    } finally {
      if (tails.get(key) === done) tails.delete(key)
    }
  }
}
