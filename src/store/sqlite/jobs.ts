import type { Job, JobStore } from '../../store.ts'
import { pageSize } from '../rules/page-size.ts'
import type { Connection } from './connection.ts'

interface JobRow {
  readonly id: string
  readonly kind: string
  readonly body: string
  readonly due_at: number
  readonly attempts: number
}

/** Jobs in the file. */
export function createJobs(connection: Connection): JobStore {
  const add = connection.statement(
    `INSERT INTO jobs (id, kind, body, due_at, attempts, leased_until) VALUES (?, ?, ?, ?, 0, 0)
     ON CONFLICT (id) DO NOTHING`,
  )
  const take = connection.statement<JobRow>(
    `UPDATE jobs SET owner = ?, leased_until = ?, attempts = attempts + 1
     WHERE leased_until <= ? AND id = (
       SELECT id FROM jobs WHERE kind = ? AND due_at <= ? AND leased_until <= ? ORDER BY due_at, id LIMIT 1
     )
     RETURNING id, kind, body, due_at, attempts`,
  )
  const finish = connection.statement('DELETE FROM jobs WHERE id = ?')
  const retry = connection.statement('UPDATE jobs SET due_at = ?, owner = NULL, leased_until = 0 WHERE id = ?')
  const list = connection.statement<JobRow>(
    'SELECT id, kind, body, due_at, attempts FROM jobs WHERE kind = ? ORDER BY due_at, id LIMIT ?',
  )
  const isDue = connection.statement('SELECT 1 FROM jobs WHERE kind = ? AND due_at <= ? AND leased_until <= ? LIMIT 1')
  return {
    add({ id, kind, body, dueAt }) {
      add.run(id, kind, body, dueAt)
    },
    take({ kind, owner, now, leaseMs }) {
      // Workers ask again and again; while nothing is due they must not take turns at writing.
      if (!isDue.get(kind, now, now)) return undefined
      const row = connection.transaction(() => take.get(owner, now + leaseMs, now, kind, now, now))
      return row && toJob(row)
    },
    finish(id) {
      finish.run(id)
    },
    retry(id, dueAt) {
      retry.run(dueAt, id)
    },
    list: ({ kind, limit }) => list.all(kind, pageSize(limit)).map(toJob),
  }
}

function toJob({ id, kind, body, due_at, attempts }: JobRow): Job {
  return { id, kind, body, dueAt: due_at, attempts }
}
