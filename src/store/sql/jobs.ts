import type { Job, JobStore, SlotStore } from '../../core/store.ts'
import { all, get, type Repository, run, transaction } from '../driver.ts'
import { entity } from './entity.ts'
import { pageSize } from './query.ts'

const JOBS = entity<Job>('jobs', { id: 'id', kind: 'kind', body: 'body', dueAt: 'due_at', attempts: 'attempts' })
const IS_DUE = 'SELECT 1 FROM jobs WHERE kind = ? AND due_at <= ? AND leased_until <= ? LIMIT 1'
const TAKE = `UPDATE jobs SET owner = ?, leased_until = ?, attempts = attempts + 1
 WHERE leased_until <= ? AND id = (
   SELECT id FROM jobs WHERE kind = ? AND due_at <= ? AND leased_until <= ? ORDER BY due_at, id LIMIT 1
 )
 RETURNING ${JOBS.columns}`

/** Jobs. */
export const jobs: Repository<JobStore> = {
  *add(job) {
    yield* run(
      `INSERT INTO jobs (${JOBS.columns}, leased_until) VALUES (${JOBS.marks}, 0) ON CONFLICT (id) DO NOTHING`,
      ...JOBS.values({ ...job, attempts: 0 }),
    )
  },
  *take({ kind, owner, now, leaseMs }) {
    // Workers ask again and again; while nothing is due they must not take turns at writing.
    if (!(yield* get(IS_DUE, kind, now, now))) return undefined
    const row = yield* transaction(() => get(TAKE, owner, now + leaseMs, now, kind, now, now))
    return row ? JOBS.read(row) : undefined
  },
  *finish(id) {
    yield* run('DELETE FROM jobs WHERE id = ?', id)
  },
  *retry(id, dueAt) {
    yield* run('UPDATE jobs SET due_at = ?, owner = NULL, leased_until = 0 WHERE id = ?', dueAt, id)
  },
  *list({ kind, limit }) {
    const select = `SELECT ${JOBS.columns} FROM jobs WHERE kind = ? ORDER BY due_at, id LIMIT ?`
    return (yield* all(select, kind, pageSize(limit))).map((row) => JOBS.read(row))
  },
}

const LEASE = `INSERT INTO slots (slot, owner, leased_until) VALUES (?, ?, ?)
 ON CONFLICT (slot) DO UPDATE SET owner = excluded.owner, leased_until = excluded.leased_until
 WHERE slots.owner = excluded.owner OR slots.leased_until <= ?`

/** Slots. */
export const slots: Repository<SlotStore> = {
  *lease(slot, { owner, now, until }) {
    return (yield* run(LEASE, slot, owner, until, now)) === 1
  },
  *release(slot, owner) {
    yield* run('DELETE FROM slots WHERE slot = ? AND owner = ?', slot, owner)
  },
}
