import { type Store, ToolError } from '@tool-hub/core'
import {
  all,
  count,
  perform,
  run,
  type StoreOfFeature,
  type TableBound,
  transaction,
  type Work,
} from '@tool-hub/core/sql'
import { createLocalStores } from './in-process-maps.ts'
import { sqliteCallSearch } from './sql/call-search.ts'
import { bindAll, createRepositories, emptyAtFirst, type Repositories, sweep } from './sql/repositories.ts'
import { openMemoryDatabase } from './sqlite/database.ts'
import { SqliteDriver } from './sqlite/driver.ts'
import { type FeatureTables, storeTables } from './store-tables.ts'

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
export function createInProcessStore({ features, ...options }: MemoryStoreOptions & FeatureTables): Store {
  const { maxKeys = 10_000, maxResultChars = 64 * 1024 * 1024, maxEntries = 10_000, now = Date.now } = options
  const local = createLocalStores({ maxKeys, maxResultChars, maxEntries })
  const { keys, budgets, rates, heads, userTexts, events } = local
  const driver = new SqliteDriver({
    open: () => openMemoryDatabase(storeTables(features)),
    close: (database) => database.close(),
  })
  const repositories = createRepositories({ features, events, search: sqliteCallSearch, now })
  return {
    location: 'process',
    ...emptyAtFirst(bindAll(driver, withBounds(repositories, features, maxEntries)), features, () => driver.isOpen),
    keys,
    budgets,
    rates,
    heads,
    userTexts,
    events,
    check: async () => {},
    backup: async () => {
      throw new ToolError('CONFIG_INVALID', 'This store is in memory only, so no file can be copied.', {
        hint: 'Give the hub a store in a folder: openStore(folder).',
      })
    },
    sweep(time) {
      local.sweep(time)
      return driver.isOpen ? perform(driver, sweep(time, features)) : undefined
    },
    async close() {
      events.close()
      await driver.close()
    },
  }
}

const ENDED_APPROVALS = `SELECT id AS key FROM asks WHERE state IN ('withdrawn', 'expired')
 OR (state = 'answered' AND used = 1) ORDER BY asked_at, id LIMIT ?`
const OLDEST_CALLS = 'SELECT call_id AS key FROM calls ORDER BY started_at, seq, call_id LIMIT ?'
const OLDEST_RUNS = 'SELECT run AS key FROM runs ORDER BY ended_at, run LIMIT ?'

const OWN_BOUNDS: { readonly [Part in keyof Repositories]?: readonly TableBound[] } = {
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
  documents: [{ table: 'documents', methods: ['write'], what: 'documents' }],
  calls: [
    { table: 'calls', methods: ['put'], what: 'calls', evict: { column: 'call_id', select: OLDEST_CALLS } },
    { table: 'runs', methods: ['put'], what: 'runs', evict: { column: 'run', select: OLDEST_RUNS } },
  ],
}

type BoundsByPart = Readonly<Record<string, readonly TableBound[] | undefined>>
type Method = (...values: never[]) => Work<unknown>

/** The same repositories, whose tables hold at most so many rows: others are evicted for a new one, or it is refused. */
function withBounds(repositories: Repositories, features: readonly StoreOfFeature[], max: number): Repositories {
  const boundsOf = Object.assign({}, OWN_BOUNDS, ...features.map(({ bounds }) => bounds)) as BoundsByPart
  const bounded = Object.entries(boundsOf).map(([name, bounds]) => {
    const methods: Record<string, Method> = { ...repositories[name as keyof Repositories] }
    for (const bound of bounds ?? [])
      for (const method of bound.methods) methods[method] = withinBound(methods[method]!, bound, max)
    return [name, methods]
  })
  return { ...repositories, ...Object.fromEntries(bounded) }
}

function withinBound(add: Method, bound: TableBound, max: number): Method {
  return (...values) =>
    transaction(function* () {
      const outcome = yield* add(...values)
      yield* evict(bound, max)
      return outcome
    })
}

/** In the transaction that added rows: if too few can be evicted, it is rolled back. */
function* evict({ table, what, evict }: TableBound, max: number): Work<void> {
  const excess = (yield* count(table)) - max
  if (excess <= 0) return
  const rows = evict ? yield* all<{ readonly key: string | number }>(evict.select, excess) : []
  for (const { key } of rows) yield* run(`DELETE FROM ${table} WHERE ${evict?.column} = ?`, key)
  if (rows.length === excess) return
  throw new ToolError('BUDGET_EXCEEDED', `The store in memory holds ${max} ${what}, and at most ${max}.`, {
    hint: 'Remove what is not needed any more, or keep the store in a file: openStore(folder).',
  })
}
