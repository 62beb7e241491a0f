import { type Store, ToolError } from '../core/index.ts'
import { all, perform, run, transaction, type Work } from './driver.ts'
import { createLocalParts } from './in-process-parts.ts'
import { count } from './sql/query.ts'
import { bindAll, createRepositories, type Repositories, sweep } from './sql/repositories.ts'
import { openMemoryDatabase } from './sqlite/database.ts'
import { SqliteDriver } from './sqlite/driver.ts'

/** How much the store holds. */
export interface MemoryStoreOptions {
  /** Maximum number of finished idempotency keys; the least recently used are evicted. Default: 10,000. */
  readonly maxKeys?: number
  /** Maximum number of characters of all results kept with keys. Default: 64 million. */
  readonly maxResultChars?: number
  /** Maximum number of entries of every other kind. Default: 10,000. */
  readonly maxEntries?: number
  /** Dates events whose cause has no time of its own. Default: the clock of the machine. */
  readonly now?: () => number
}

/**
 * A store in this process: it answers immediately, never with a promise, and ends with the process. What every call uses
 * is in maps; the rest is in a SQLite database in memory, which is opened at its first use.
 */
export function createMemoryStore(options: MemoryStoreOptions = {}): Store {
  const { maxKeys = 10_000, maxResultChars = 64 * 1024 * 1024, maxEntries = 10_000, now = Date.now } = options
  const local = createLocalParts({ maxKeys, maxResultChars, maxEntries })
  const { keys, budgets, rates, heads, events } = local
  const driver = new SqliteDriver({ open: openMemoryDatabase, close: (database) => database.close() })
  const repositories = createRepositories({ events, now })
  return {
    ...bindAll(driver, withBounds(repositories, maxEntries)),
    keys,
    budgets,
    rates,
    heads,
    events,
    check: async () => {},
    backup: async () => {
      throw new ToolError('CONFIG_INVALID', 'This store is in memory only, so there is no file to copy.', {
        hint: 'Give the hub a store in a folder: openStore(folder).',
      })
    },
    sweep(time) {
      local.sweep(time)
      return driver.isOpen ? perform(driver, sweep(time)) : undefined
    },
    async close() {
      events.close()
      await driver.close()
    },
  }
}

/** A table that holds a limited number of rows. */
interface Bound {
  readonly table: string
  /** The methods that add rows. */
  readonly methods: readonly string[]
  /** What the rows are, for the error. */
  readonly what: string
  /** Selects rows that may be evicted, as `key`, the first ones first. Default: none may. */
  readonly evict?: { readonly column: string; readonly select: string }
}

/** Agents' sessions that are over make room, then runs in which no session was started; sessions with a runner never do. */
const OVER_OR_BARE = `SELECT id AS key FROM agent_sessions WHERE seq < (SELECT MAX(seq) FROM agent_sessions)
 AND (state <> 'running' OR (runner IS NULL
 AND id NOT IN (SELECT root FROM agent_sessions WHERE runner IS NOT NULL)))
 ORDER BY CASE WHEN state <> 'running' THEN 0 ELSE 1 END, seq LIMIT ?`
const ENDED_APPROVALS = `SELECT id AS key FROM asks WHERE state IN ('withdrawn', 'expired')
 OR (state = 'answered' AND used = 1) ORDER BY asked_at, id LIMIT ?`
const ENDED_RUNS = `SELECT id AS key FROM schedule_runs WHERE active = 0
 AND seq < (SELECT MAX(seq) FROM schedule_runs) ORDER BY seq LIMIT ?`
const READ_MAIL = 'SELECT seq AS key FROM agent_mail WHERE read_at IS NOT NULL ORDER BY seq LIMIT ?'
const OLDEST_CALLS = 'SELECT call_id AS key FROM calls ORDER BY started_at, seq, call_id LIMIT ?'
const OLDEST_RUNS = 'SELECT run AS key FROM runs ORDER BY ended_at, run LIMIT ?'

const BOUNDS: { readonly [Part in keyof Repositories]?: readonly Bound[] } = {
  approvals: [
    {
      table: 'asks',
      methods: ['file'],
      what: 'approval requests that wait',
      evict: { column: 'id', select: ENDED_APPROVALS },
    },
  ],
  grants: [{ table: 'grants', methods: ['put'], what: 'grants' }],
  tokens: [{ table: 'tokens', methods: ['add'], what: 'tokens' }],
  signIns: [{ table: 'sessions', methods: ['add'], what: 'sign-ins' }],
  jobs: [{ table: 'jobs', methods: ['add'], what: 'jobs' }],
  slots: [{ table: 'slots', methods: ['lease'], what: 'slots' }],
  memory: [{ table: 'memory_notes', methods: ['add'], what: 'notes' }],
  canvases: [{ table: 'canvases', methods: ['add'], what: 'canvases' }],
  sessions: [
    {
      table: 'agent_sessions',
      methods: ['add'],
      what: 'running sessions',
      evict: { column: 'id', select: OVER_OR_BARE },
    },
  ],
  mail: [
    {
      table: 'agent_mail',
      methods: ['put'],
      what: 'unread messages',
      evict: { column: 'seq', select: READ_MAIL },
    },
  ],
  calls: [
    { table: 'calls', methods: ['put'], what: 'calls', evict: { column: 'call_id', select: OLDEST_CALLS } },
    { table: 'runs', methods: ['put'], what: 'runs', evict: { column: 'run', select: OLDEST_RUNS } },
  ],
  schedules: [
    { table: 'schedules', methods: ['add'], what: 'schedules' },
    {
      table: 'schedule_runs',
      methods: ['fire', 'addRun'],
      what: 'runs of schedules',
      evict: { column: 'id', select: ENDED_RUNS },
    },
  ],
}

type Method = (...values: never[]) => Work<unknown>

/** The same repositories, whose tables hold at most so many rows: others are evicted for a new one, or it is refused. */
function withBounds(repositories: Repositories, max: number): Repositories {
  const bounded = Object.entries(BOUNDS).map(([name, bounds]) => {
    const methods: Record<string, Method> = { ...repositories[name as keyof Repositories] }
    for (const bound of bounds)
      for (const method of bound.methods) methods[method] = withinBound(methods[method]!, bound, max)
    return [name, methods]
  })
  return { ...repositories, ...Object.fromEntries(bounded) }
}

function withinBound(add: Method, bound: Bound, max: number): Method {
  return (...values) =>
    transaction(function* () {
      const outcome = yield* add(...values)
      yield* evict(bound, max)
      return outcome
    })
}

/** In the transaction that added rows: if too few can be evicted, it is rolled back. */
function* evict({ table, what, evict }: Bound, max: number): Work<void> {
  const excess = (yield* count(table)) - max
  if (excess <= 0) return
  const rows = evict ? yield* all<{ readonly key: string | number }>(evict.select, excess) : []
  for (const { key } of rows) yield* run(`DELETE FROM ${table} WHERE ${evict?.column} = ?`, key)
  if (rows.length === excess) return
  throw new ToolError('BUDGET_EXCEEDED', `The store in memory holds ${max} ${what}, and at most ${max}.`, {
    hint: 'Remove what is not needed any more, or keep the store in a file: openStore(folder).',
  })
}
