import { randomBytes } from 'node:crypto'
import type { StoredRun } from '@tool-hub/core'
import {
  all,
  type Condition,
  entity,
  flag,
  get,
  json,
  one,
  page,
  type Repository,
  run,
  transaction,
  type Work,
} from '@tool-hub/core/sql'
import type { NewProcess, ProcessStore, RunLease, RunStore, SettingStore, StoredProcess } from './types.ts'

/** A process whose last heartbeat is older than this has ended, or may do nothing any more. */
export const PROCESS_DEAD_MS = 10_000
/** How long a process that ended without removing itself stays in the list. */
export const PROCESS_AGE_MS = 86_400_000
const SECRET_BYTES = 32

const PROCESSES = entity<NewProcess & { readonly seenAt: number }>('processes', {
  id: 'id',
  kind: 'kind',
  address: 'address',
  host: 'host',
  pid: 'pid',
  version: 'version',
  labels: json('labels'),
  running: 'running',
  concurrency: 'concurrency',
  isDraining: flag('draining'),
  policy: 'policy',
  startedAt: 'started_at',
  seenAt: 'seen_at',
})
const LIST_PROCESSES = `SELECT ${PROCESSES.columns} FROM processes WHERE seen_at > ? ORDER BY started_at, id`

/** The processes that share the store. `time` is the clock that all of them are measured by: that of the database. */
export function createProcesses(time: () => Work<number>): Repository<ProcessStore> {
  return {
    *beat(process) {
      // The time is read first: a process that is stopped in between counts as seen before it was stopped.
      const now = yield* time()
      yield* run(PROCESSES.upsert('id'), ...PROCESSES.values({ ...process, seenAt: now }))
      return { now }
    },
    *list() {
      const now = yield* time()
      const rows = yield* all(LIST_PROCESSES, now - PROCESS_AGE_MS)
      return rows.map((row): StoredProcess => {
        const process = PROCESSES.read(row)
        return { ...process, isAlive: now - process.seenAt < PROCESS_DEAD_MS }
      })
    },
    *remove(id) {
      yield* run('DELETE FROM processes WHERE id = ?', id)
    },
  }
}

const RUNS = entity<StoredRun>('run_states', {
  run: 'run',
  principal: 'principal',
  owner: 'owner',
  epoch: 'epoch',
  leasedAt: 'leased_at',
  taintedBy: json('tainted_by'),
  wasCleared: flag('was_cleared'),
})
const FIND = `SELECT ${RUNS.columns} FROM run_states WHERE run = ?`
const ADD = `${RUNS.insert} ON CONFLICT (run) DO NOTHING`
const RENEW = 'UPDATE run_states SET leased_at = ? WHERE run = ? AND owner = ? AND epoch = ?'
/** `leased_at` too: an owner that came back to life has renewed its lease, and keeps it. */
const TAKE = `UPDATE run_states SET owner = ?, epoch = epoch + 1, leased_at = ? WHERE run = ? AND epoch = ?
 AND COALESCE(owner, '') = ? AND COALESCE(leased_at, 0) = ?`
const RELEASE = 'UPDATE run_states SET owner = ?, leased_at = NULL WHERE run = ? AND owner = ? AND epoch = ?'
const IS_ALIVE = 'SELECT 1 FROM processes WHERE id = ? AND seen_at > ?'
/** A taint that is cleared leaves `was_cleared`; one that was never there does not. */
const TAINT = `INSERT INTO run_states (run, epoch, tainted_by, was_cleared) VALUES (?, 0, ?, 0)
 ON CONFLICT (run) DO UPDATE SET tainted_by = excluded.tainted_by,
 was_cleared = CASE WHEN excluded.tainted_by = '[]' AND run_states.tainted_by <> '[]' THEN 1 ELSE run_states.was_cleared END`
const TAINT_HELD = `UPDATE run_states SET tainted_by = ?,
 was_cleared = CASE WHEN ? = '[]' AND tainted_by <> '[]' THEN 1 ELSE was_cleared END
 WHERE run = ? AND owner = ? AND epoch = ?`
const LIST_LEASES = { select: `SELECT ${RUNS.columns} FROM run_states`, order: 'leased_at DESC, run' }

/** The states of runs. */
export function createRunStates(time: () => Work<number>): Repository<RunStore> {
  function* found(id: string): Work<StoredRun> {
    return RUNS.read(yield* one(FIND, id))
  }
  /** Takes a free run, or that of a process that has ended. Returns false if another process was faster. */
  function* take(state: StoredRun, owner: string, now: number): Work<boolean> {
    const { run: id, epoch, owner: before = '', leasedAt = 0 } = state
    return (yield* run(TAKE, owner, now, id, epoch, before, leasedAt)) === 1
  }
  return {
    find,
    lease: (id, { owner, principal }) =>
      transaction(
        function* () {
          for (;;) {
            const now = yield* time()
            const first = { run: id, principal, owner, epoch: 1, leasedAt: now, taintedBy: [], wasCleared: false }
            if ((yield* run(ADD, ...RUNS.values(first))) === 1) return first
            const state = yield* found(id)
            if (state.owner === owner && (yield* run(RENEW, now, id, owner, state.epoch)) === 1)
              return { ...state, leasedAt: now, takenFrom: owner }
            const isHeld = state.owner !== undefined && state.owner !== owner
            if (isHeld && (yield* get(IS_ALIVE, state.owner, now - PROCESS_DEAD_MS))) return state
            if (yield* take(state, owner, now))
              return { ...state, owner, epoch: state.epoch + 1, leasedAt: now, takenFrom: state.owner }
          }
        },
        [runLock(id)],
      ),
    *renew(id, { owner, epoch }) {
      const now = yield* time()
      return (yield* run(RENEW, now, id, owner, epoch)) === 1
    },
    *release(id, { owner, epoch }, to) {
      yield* run(RELEASE, to, id, owner, epoch)
    },
    own: (id, principal) =>
      transaction(
        function* () {
          yield* run(ADD, ...RUNS.values({ run: id, principal, epoch: 0, taintedBy: [], wasCleared: false }))
          return yield* found(id)
        },
        [runLock(id)],
      ),
    *taint(id, sources, held?: RunLease) {
      const list = JSON.stringify(sources)
      if (held) return (yield* run(TAINT_HELD, list, list, id, held.owner, held.epoch)) === 1
      yield* run(TAINT, id, list)
      return true
    },
    *leases({ owner, limit } = {}) {
      const conditions: Condition[] = owner === undefined ? [['owner IS NOT NULL', []]] : [['owner = ?', owner]]
      return (yield* page(LIST_LEASES, conditions, limit)).map((row) => RUNS.read(row))
    },
    *remove(id) {
      yield* run('DELETE FROM run_states WHERE run = ?', id)
    },
  }
}

const SECRET = 'SELECT value FROM cluster_settings WHERE name = ?'

/** Settings that all processes share. */
export const settings: Repository<SettingStore> = {
  *secret(name) {
    // Read first: the database user of a worker may not write it.
    let found = yield* get<{ readonly value: string }>(SECRET, name)
    if (!found) {
      const created = randomBytes(SECRET_BYTES).toString('base64')
      yield* run(
        'INSERT INTO cluster_settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING',
        name,
        created,
      )
      found = yield* one<{ readonly value: string }>(SECRET, name)
    }
    return new Uint8Array(Buffer.from(found.value, 'base64'))
  },
}

function runLock(id: string): string {
  return `run-state:${id}`
}

function* find(id: string): Work<StoredRun | undefined> {
  const row = yield* get(FIND, id)
  return row ? RUNS.read(row) : undefined
}
