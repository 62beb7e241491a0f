import { randomBytes } from 'node:crypto'
import type {
  NewProcess,
  ProcessStore,
  RunLease,
  RunStore,
  SettingStore,
  StoredProcess,
  StoredRun,
} from '@tool-hub/core'
import {
  type Condition,
  column,
  defineTable,
  type Entity,
  get,
  one,
  optional,
  type Repository,
  run,
  transaction,
  type Work,
} from '@tool-hub/core/sql'

/** A process whose last heartbeat is older than this has ended, or may do nothing any more. */
export const PROCESS_DEAD_MS = 10_000
/** How long a process that ended without removing itself stays in the list. */
export const PROCESS_AGE_MS = 86_400_000
const SECRET_BYTES = 32

export const PROCESSES = defineTable('processes', 20, {
  id: column.text({ key: true }),
  kind: column.text<NewProcess['kind']>(),
  address: optional.text(),
  host: column.text(),
  pid: column.bigint(),
  version: column.text(),
  labels: column.json<readonly string[]>(),
  running: column.bigint(),
  concurrency: optional.bigint(),
  isDraining: column.flag({ name: 'draining' }),
  policy: optional.text(),
  startedAt: column.bigint(),
  seenAt: column.bigint(),
}) satisfies Entity<NewProcess & { readonly seenAt: number }>

/** The processes that share the store. `time` is the clock that all of them are measured by: that of the database. */
export function createProcesses(time: () => Work<number>): Repository<ProcessStore> {
  return {
    *beat(process) {
      // The time is read first: a process that is stopped in between counts as seen before it was stopped.
      const now = yield* time()
      yield* run(PROCESSES.upsert, ...PROCESSES.values({ ...process, seenAt: now }))
      return { now }
    },
    *list() {
      const now = yield* time()
      const processes = yield* PROCESSES.list('WHERE seen_at > ? ORDER BY started_at, id', now - PROCESS_AGE_MS)
      return processes.map(
        (process): StoredProcess => ({ ...process, isAlive: now - process.seenAt < PROCESS_DEAD_MS }),
      )
    },
    *remove(id) {
      yield* run('DELETE FROM processes WHERE id = ?', id)
    },
  }
}

/**
 * The head of the shared record is in the row of the lease, so that one statement checks the lease, checks the chain and
 * moves the head.
 */
export const RUN_STATES = defineTable(
  'run_states',
  20,
  {
    run: column.text({ key: true }),
    principal: optional.text(),
    owner: optional.text(),
    epoch: column.bigint(),
    leasedAt: optional.bigint(),
    taintedBy: column.json<readonly string[]>(),
    wasCleared: column.flag(),
    sharedSeq: column.bigint({ since: 21, initial: 0 }),
    sharedHash: column.text({ since: 21, initial: '' }),
    sharedEpoch: column.bigint({ since: 21, initial: 0 }),
    sharedAt: column.bigint({ since: 21, initial: 0 }),
  },
  { indexes: { owner: ['owner', 'leasedAt'] } },
)
const RUNS = RUN_STATES.part(
  ...(['run', 'principal', 'owner', 'epoch', 'leasedAt', 'taintedBy', 'wasCleared'] as const),
) satisfies Entity<StoredRun>
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

/** The states of runs. */
export function createRunStates(time: () => Work<number>): Repository<RunStore> {
  function* found(id: string): Work<StoredRun> {
    return (yield* find(id))!
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
      return yield* RUNS.page('leased_at DESC, run', conditions, limit)
    },
    *remove(id) {
      yield* run('DELETE FROM run_states WHERE run = ?', id)
    },
  }
}

export const SETTINGS = defineTable('cluster_settings', 20, { name: column.text({ key: true }), value: column.text() })
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
  return yield* RUNS.find('WHERE run = ?', id)
}
