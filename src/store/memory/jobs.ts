import type { Job, JobStore, NewJob } from '../../store.ts'
import { compareIds } from '../rules/compare-ids.ts'
import { pageSize } from '../rules/page-size.ts'
import { assertRoom } from './assert-room.ts'

interface HeldJob {
  readonly job: Job
  readonly leasedUntil: number
}

/** Jobs in memory. */
export class MemoryJobs implements JobStore {
  readonly #jobs = new Map<string, HeldJob>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  add({ id, kind, body, dueAt }: NewJob): void {
    if (this.#jobs.has(id)) return
    assertRoom(this.#jobs, this.#max, 'jobs')
    this.#jobs.set(id, { job: { id, kind, body, dueAt, attempts: 0 }, leasedUntil: 0 })
  }

  take({ kind, now, leaseMs }: { kind: string; owner: string; now: number; leaseMs: number }): Job | undefined {
    const due = this.#ofKind(kind).find(({ job, leasedUntil }) => job.dueAt <= now && leasedUntil <= now)
    if (!due) return undefined
    const job = { ...due.job, attempts: due.job.attempts + 1 }
    this.#jobs.set(job.id, { job, leasedUntil: now + leaseMs })
    return job
  }

  finish(id: string): void {
    this.#jobs.delete(id)
  }

  retry(id: string, dueAt: number): void {
    const held = this.#jobs.get(id)
    if (held) this.#jobs.set(id, { job: { ...held.job, dueAt }, leasedUntil: 0 })
  }

  list({ kind, limit }: { kind: string; limit?: number }): readonly Job[] {
    return this.#ofKind(kind)
      .slice(0, pageSize(limit))
      .map(({ job }) => job)
  }

  /** Due first, first. */
  #ofKind(kind: string): HeldJob[] {
    return [...this.#jobs.values()]
      .filter(({ job }) => job.kind === kind)
      .sort((a, b) => a.job.dueAt - b.job.dueAt || compareIds(a.job.id, b.job.id))
  }
}
