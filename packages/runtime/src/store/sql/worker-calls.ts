import type { EndedWorkerCall, StoredWorkerCall, WorkerCallStore, WorkerQueueState } from '@tool-hub/core'
import {
  all,
  column,
  defineTable,
  type Entity,
  optional,
  type Repository,
  run,
  transaction,
  type Work,
} from '@tool-hub/core/sql'
import { PROCESS_DEAD_MS } from './processes.ts'

/** How long a call is kept whose process has ended. */
export const WORKER_CALL_AGE_MS = 7 * 86_400_000

export const WORKER_CALLS = defineTable(
  'worker_calls',
  22,
  {
    id: column.text({ key: true }),
    queue: column.text(),
    run: column.text(),
    owner: optional.text(),
    epoch: optional.bigint(),
    state: column.text<StoredWorkerCall['state']>(),
    worker: optional.text(),
    queuedAt: column.bigint(),
    startedAt: optional.bigint(),
    result: optional.text(),
  },
  { indexes: { queue: ['queue', 'state', 'queuedAt'] } },
)
const STATES = WORKER_CALLS.part('id', 'state', 'worker') satisfies Entity<StoredWorkerCall>
const ADD = `${WORKER_CALLS.insert} ON CONFLICT (id) DO NOTHING`
/** Nobody waits for a call whose run has moved or whose process has ended. Takes the time since which a process is alive. */
const IS_HELD = `(worker_calls.owner IS NULL
   OR EXISTS (SELECT 1 FROM processes WHERE processes.id = worker_calls.owner AND processes.seen_at > ?)
   AND (worker_calls.epoch IS NULL OR EXISTS (SELECT 1 FROM run_states WHERE run_states.run = worker_calls.run
     AND run_states.owner = worker_calls.owner AND run_states.epoch = worker_calls.epoch)))`
const FINISH = `UPDATE worker_calls SET state = 'ended', result = ?
 WHERE id = ? AND worker = ? AND state IN ('running', 'stopping')`
const QUEUES = `SELECT queue, SUM(CASE WHEN state = 'queued' THEN 1 ELSE 0 END) AS waiting,
 SUM(CASE WHEN state IN ('running', 'stopping') THEN 1 ELSE 0 END) AS running,
 MIN(CASE WHEN state = 'queued' THEN queued_at END) AS oldest_at
 FROM worker_calls WHERE state <> 'ended' AND ${IS_HELD} GROUP BY queue ORDER BY queue`

/** Calls that workers execute. `time` is the clock that processes are measured by. */
export function createWorkerCalls(time: () => Work<number>): Repository<WorkerCallStore> {
  function* aliveSince(): Work<number> {
    return (yield* time()) - PROCESS_DEAD_MS
  }
  return {
    *add(call) {
      yield* run(ADD, ...WORKER_CALLS.values({ ...call, state: 'queued' }))
    },
    claim: (ids, { worker, now }) =>
      transaction(function* (): Work<string[]> {
        const claimed: string[] = []
        const since = yield* aliveSince()
        for (const some of inParts(ids)) {
          const claim = `UPDATE worker_calls SET state = 'running', worker = ?, started_at = ?
           WHERE id IN (${marks(some)}) AND state = 'queued' AND ${IS_HELD} RETURNING id`
          const rows = yield* all<{ readonly id: string }>(claim, worker, now, ...some, since)
          claimed.push(...rows.map(({ id }) => id))
        }
        return claimed
      }, []),
    *finish(id, { worker, result }) {
      return (yield* run(FINISH, result, id, worker)) === 1
    },
    stop: (id) =>
      transaction(function* (): Work<'queued' | 'running' | undefined> {
        if ((yield* run(`DELETE FROM worker_calls WHERE id = ? AND state = 'queued'`, id)) === 1) return 'queued'
        const marked = yield* run(`UPDATE worker_calls SET state = 'stopping' WHERE id = ? AND state = 'running'`, id)
        return marked === 1 ? 'running' : undefined
      }, []),
    *abandon(id, worker) {
      const remove = `DELETE FROM worker_calls WHERE id = ? AND worker = ? AND state IN ('running', 'stopping')`
      return (yield* run(remove, id, worker)) === 1
    },
    *look(ids) {
      const calls: StoredWorkerCall[] = []
      for (const some of inParts(ids)) calls.push(...(yield* STATES.list(`WHERE id IN (${marks(some)})`, ...some)))
      return calls
    },
    *stopped(ids, worker) {
      const kept = new Set<string>()
      const since = yield* aliveSince()
      for (const some of inParts(ids)) {
        const select = `SELECT id FROM worker_calls WHERE id IN (${marks(some)}) AND worker = ? AND state = 'running' AND ${IS_HELD}`
        for (const { id } of yield* all<{ readonly id: string }>(select, ...some, worker, since)) kept.add(id)
      }
      return ids.filter((id) => !kept.has(id))
    },
    *results(ids) {
      const ended: EndedWorkerCall[] = []
      for (const some of inParts(ids)) {
        const select = `SELECT id, worker, result FROM worker_calls WHERE id IN (${marks(some)}) AND state = 'ended'`
        ended.push(...(yield* all<EndedWorkerCall>(select, ...some)))
      }
      return ended
    },
    *remove(ids) {
      for (const some of inParts(ids))
        yield* run(`DELETE FROM worker_calls WHERE id IN (${marks(some)}) AND state = 'ended'`, ...some)
    },
    *queues() {
      const rows = yield* all<{ queue: string; waiting: number; running: number; oldest_at: number | null }>(
        QUEUES,
        yield* aliveSince(),
      )
      return rows.map(
        ({ queue, waiting, running, oldest_at: oldestAt }): WorkerQueueState => ({
          queue,
          waiting: Number(waiting),
          running: Number(running),
          ...(oldestAt !== null && { oldestAt: Number(oldestAt) }),
        }),
      )
    },
  }
}

const MAX_IDS = 500

function inParts(ids: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(ids.length / MAX_IDS) }, (_, index) =>
    ids.slice(index * MAX_IDS, (index + 1) * MAX_IDS),
  )
}

function marks(ids: readonly string[]): string {
  return ids.map(() => '?').join(', ')
}
