import type { JobQueue, QueuedJob, Store } from '@tool-hub/core'
import { createMemoryStore } from '@tool-hub/library/stores'

/** A queue in this process, which delivers each job once. */
export class LocalQueue implements JobQueue {
  readonly #queues = new Map<string, QueuedJob[]>()
  readonly #taken = new Map<string, { readonly queue: string; readonly job: QueuedJob }>()

  async send(queue: string, job: QueuedJob): Promise<void> {
    const jobs = this.#queues.get(queue) ?? []
    this.#queues.set(queue, jobs)
    jobs.push(job)
  }

  async take(queue: string, max: number): Promise<readonly QueuedJob[]> {
    const jobs = this.#queues.get(queue)?.splice(0, max) ?? []
    for (const job of jobs) this.#taken.set(job.id, { queue, job })
    return jobs
  }

  async remove(queue: string, ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#taken.delete(id)
    const jobs = this.#queues.get(queue) ?? []
    this.#queues.set(
      queue,
      jobs.filter(({ id }) => !ids.includes(id)),
    )
  }

  async list(): Promise<readonly string[]> {
    return [...this.#queues.keys()]
  }

  async close(): Promise<void> {}

  /** The jobs that wait or were taken and not removed. */
  get jobs(): readonly QueuedJob[] {
    return [...[...this.#queues.values()].flat(), ...[...this.#taken.values()].map(({ job }) => job)]
  }
}

/** A store in memory as several hubs of this process share it, each as if it were on a machine of its own. */
export function sharedMemoryStore(): { readonly store: Store; readonly queue: LocalQueue } {
  const queue = new LocalQueue()
  return { store: { ...createMemoryStore(), location: 'network', openQueue: async () => queue }, queue }
}
