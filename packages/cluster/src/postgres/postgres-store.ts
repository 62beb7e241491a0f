import { type BudgetStore, lazyModule, type Store, ToolError } from '@tool-hub/core'
import { Later } from '@tool-hub/core/lib'
import { bind, type Driver, one, perform, type Work } from '@tool-hub/core/sql'
import { type CopyPlace, type FeatureTables, storeTables } from '@tool-hub/runtime/store'
import { bindAll, createEvents, createRepositories, postgresCallSearch, sweep } from '@tool-hub/runtime/store/sql'
import { type PostgresTls, parseConnection } from './connect.ts'
import type { PostgresDatabase, PostgresDatabaseOptions } from './database.ts'

/** Options of `openPostgresStore`. */
export interface PostgresStoreOptions {
  /** Name of the schema that holds the tables; stores in different schemas share nothing. Default: `tool_hub`. */
  readonly schema?: string
  /** Maximum number of connections, in addition to the one that waits for notices. Default: 10. */
  readonly pool?: number
  /**
   * TLS to the server; `false` turns it off. Default: what `sslmode` and `sslrootcert` in the URL say; without them, none
   * to this machine, and TLS with a verified certificate to any other.
   */
  readonly tls?: PostgresTls | false
  /** How long a statement may take, including the time it waits for locks. Default: 10 s. */
  readonly statementTimeoutMs?: number
  /** How long to wait for a connection. Default: 5 s. */
  readonly connectTimeoutMs?: number
  /**
   * Whether statements are kept prepared on the server; turn it off for a pooler that does not support it. A pooler must
   * pool sessions, not transactions: the schema is a setting of the session. Default: true.
   */
  readonly prepare?: boolean
  /** How often to look for events of other processes that no notice has announced. Default: every second. */
  readonly pollMs?: number
  /**
   * Dates events whose cause has no time of its own, and heartbeats. Default: the clock of the machine for events, and that
   * of the database for heartbeats.
   */
  readonly now?: () => number
}

/**
 * A store in PostgreSQL, shared by the processes of many machines. It connects at its first use, creates its tables in a
 * new schema, and needs the package `pg`.
 * @param url For example `postgres://user:password@db.example/hub`.
 */
export function openDatabaseStore(url: string, options: PostgresStoreOptions & FeatureTables): Store {
  // Throws here for a URL that cannot be read.
  const settings = settingsOf(url, options)
  const database = new Later(() => openDatabase(settings))
  const queue = new Later(async () => (await loadQueue()).openBossQueue(await database.get()))
  const check = async () => (await database.get()).check()
  const store = createPostgresStore(laterDriver(database), { features: options.features, now: options.now, check })
  const { processes } = store
  return {
    ...store,
    processes: {
      ...processes,
      // Every process sends heartbeats, so each one notices a migration within seconds.
      async beat(process) {
        await (await database.get()).assertCurrent()
        return processes.beat(process)
      },
    },
    openQueue: () => queue.get(),
    poolUse: () => database.made?.poolUse(),
    async close() {
      await queue.made?.close()
      await store.close()
    },
  }
}

// Few hubs have a store that many machines share.
const loadDatabase = lazyModule(() => import('./database.ts'))
const loadBlockBudgets = lazyModule(() => import('./block-budgets.ts'))
const loadQueue = lazyModule(() => import('./queue.ts'))

/**
 * Takes the tables of a store to the version of this tool-hub; returns the versions before and after. Throws CONFLICT while
 * processes with current heartbeats use older tables, unless `force` is set. If pg-boss is installed, the queue of workers
 * is created or migrated, too, which their own database users may not do.
 */
export async function migrateDatabase(
  url: string,
  { force, ...options }: PostgresStoreOptions & FeatureTables & { readonly force?: boolean },
): Promise<{ readonly from: number; readonly to: number }> {
  const database = await openDatabase(settingsOf(url, options))
  try {
    const versions = await database.migrate({ force })
    const { openBossQueue, hasBoss } = await loadQueue()
    if (await hasBoss()) await (await openBossQueue(database)).close()
    return versions
  } finally {
    await database.driver.close()
  }
}

/** The version of the tables, 0 if there are none, and the version that this tool-hub needs; nothing is changed. */
export async function postgresVersion(
  url: string,
  options: PostgresStoreOptions & FeatureTables,
): Promise<{ readonly from: number; readonly to: number }> {
  const database = await openDatabase(settingsOf(url, options))
  try {
    return await database.version()
  } finally {
    await database.driver.close()
  }
}

/** The tables of a store, to copy from or to. */
export async function openPostgresPlace(
  url: string,
  options: PostgresStoreOptions & FeatureTables,
): Promise<CopyPlace> {
  const { driver, name } = await openDatabase(settingsOf(url, { ...options, statementTimeoutMs: COPY_STATEMENT_MS }))
  return {
    name,
    read: (work) =>
      driver.transaction(async (queries) => {
        await queries.run('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY', [])
        return work(queries)
      }, []),
    write: (work) => driver.transaction(work),
    close: () => driver.close(),
  }
}

/** Large tables take their time to be counted. */
const COPY_STATEMENT_MS = 600_000

function settingsOf(url: string, options: PostgresStoreOptions & FeatureTables): PostgresDatabaseOptions {
  const {
    schema = 'tool_hub',
    pool = 10,
    tls,
    statementTimeoutMs = 10_000,
    connectTimeoutMs = 5_000,
    prepare = true,
    pollMs = 1_000,
  } = options
  const connection = parseConnection({ url, schema, pool, tls, statementTimeoutMs, connectTimeoutMs })
  return { connection, steps: storeTables(options.features).postgres, isPrepared: prepare, pollMs }
}

async function openDatabase(settings: PostgresDatabaseOptions): Promise<PostgresDatabase> {
  const { PostgresDatabase: Database } = await loadDatabase()
  return new Database(settings)
}

/** A driver that loads the one of the database at its first use. */
function laterDriver(database: Later<PostgresDatabase>): StoreDriver {
  const driver: Driver = {
    dialect: 'postgres',
    all: (sql, values) => database.use((loaded) => loaded.driver.all(sql, values)),
    get: (sql, values) => database.use((loaded) => loaded.driver.get(sql, values)),
    run: (sql, values) => database.use((loaded) => loaded.driver.run(sql, values)),
    transaction: (work, locks) => database.use((loaded) => loaded.driver.transaction(work, locks)),
    // Events are read before anybody listens, so it has been loaded.
    listen: (onChange) => database.made!.driver.listen(onChange),
    // Before it is loaded, there is nothing that others would have to read.
    notify: () => database.made?.driver.notify(),
    // A store that was never used must refuse its first use after this, too.
    close: async () => (await database.get()).driver.close(),
  }
  return {
    ...driver,
    unsynced: {
      ...driver,
      transaction: (work, locks) => database.use((loaded) => loaded.driver.unsynced.transaction(work, locks)),
    },
  }
}

const WRITE_CHECK = `INSERT INTO counters (name, value) VALUES ('check', 1)
 ON CONFLICT (name) DO UPDATE SET value = counters.value + 1`

/**
 * The rows do not fit into so little memory, so PostgreSQL writes about 400 KB to a file in the place of the tables. A full disk
 * refuses that, although the pages of a table may have room left. The settings end with the statement.
 */
const SPACE_CHECK = `WITH settings AS MATERIALIZED (
 SELECT set_config('work_mem', '64kB', true) AS memory, set_config('temp_tablespaces', '', true) AS places)
 SELECT count(*) AS rows FROM settings, LATERAL generate_series(1, 5000 * length(memory || places)) AS number`

const SERVER_TIME = 'SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS now'

function* serverTime(): Work<number> {
  return (yield* one<{ readonly now: number }>(SERVER_TIME)).now
}

/** A driver, and one whose transactions do not wait until they are on disk. */
type StoreDriver = Driver & { readonly unsynced: Driver }

/** The store on a driver whose database has the current version. */
export function createPostgresStore(
  driver: StoreDriver,
  { features, now, check }: FeatureTables & { readonly now?: () => number; check(): Promise<void> },
): Store {
  const events = createEvents(driver)
  const search = postgresCallSearch
  const time = now ? undefined : serverTime
  const repositories = createRepositories({ features, events, search, now: now ?? Date.now, time })
  const { rates, calls } = repositories
  const blocks = new Later(async () => {
    const { BlockBudgets } = await loadBlockBudgets()
    return new BlockBudgets(driver)
  })
  const budgets: BudgetStore = {
    reserve: (accounts, cost) => blocks.use((held) => held.reserve(accounts, cost)),
    settle: (accounts, spent) => blocks.use((held) => held.settle(accounts, spent)),
    release: (accounts, cost) => blocks.use((held) => held.release(accounts, cost)),
    used: (account) => blocks.use((held) => held.used(account)),
    forget: (account) => blocks.use((held) => held.forget(account)),
  }
  return {
    location: 'network',
    ...bindAll(driver, repositories),
    budgets,
    // What a failure of the server may undo: the rates of a moment, and an index that can be rebuilt.
    rates: bind(driver.unsynced, rates),
    calls: bind(driver.unsynced, calls),
    events: { append: events.append, watch: events.watch },
    async check() {
      await check()
      const write = async () => {
        await driver.run(WRITE_CHECK, [])
        await driver.run(`DELETE FROM counters WHERE name = 'check'`, [])
      }
      await Promise.all([write(), driver.all(SPACE_CHECK, [])])
    },
    backup: async () => {
      throw new ToolError('CONFIG_INVALID', 'A store in PostgreSQL is not a file that can be copied.', {
        hint: 'Use pg_dump, or tool-hub store copy.',
      })
    },
    async sweep(time) {
      await blocks.made?.report()
      await perform(driver, sweep(time, features))
    },
    async close() {
      events.close()
      await blocks.close((held) => held.close())
      await driver.close()
    },
  }
}
