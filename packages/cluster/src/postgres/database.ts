import { randomUUID } from 'node:crypto'
import type { PoolUse, ToolError } from '@tool-hub/core'
import { storeClosed } from '@tool-hub/core/sql'
import type { Pool, PoolClient, PoolConfig } from 'pg'
import type { PostgresConnection } from './connect.ts'
import { PostgresDriver, type PostgresResult, type PostgresSession } from './driver.ts'
import { type PostgresPlace, toPostgresError } from './errors.ts'
import { Listener, loadPg } from './listener.ts'
import { examine, knownVersion, migrateSchema, openSchema, outdated, type SchemaPlace } from './schema.ts'

/** How to use a database. */
export interface PostgresDatabaseOptions {
  readonly connection: PostgresConnection
  /** The steps from an empty schema to the current version. */
  readonly steps: readonly string[]
  /** Whether statements are kept prepared on the server. */
  readonly isPrepared: boolean
  /** How often to look for events that no notice has announced. */
  readonly pollMs: number
}

/** How much longer than the server this side waits for an answer. */
const GRACE_MS = 2_000
/** A migration of large tables takes its time. */
const MAX_MIGRATION_MS = 24 * 3_600_000

/** A schema of a PostgreSQL database: connected at its first use, and again whenever the connection was lost. */
export class PostgresDatabase {
  readonly driver: PostgresDriver
  readonly #connection: PostgresConnection
  readonly #place: SchemaPlace
  readonly #listener: Listener
  #pool: Promise<Pool> | undefined
  /** The same when it is there, for those who cannot wait. */
  #opened: Pool | undefined
  #opening: Promise<void> | undefined
  #wasOpen = false
  /** Set once the tables turn out to be of a later tool-hub. */
  #outdated: ToolError | undefined
  #isClosed = false

  constructor({ connection, steps, isPrepared, pollMs }: PostgresDatabaseOptions) {
    this.#connection = connection
    this.#place = { ...connection.place, steps }
    const { schema } = connection.place
    const channel = `${schema}_events`
    const ownNotice = randomUUID()
    this.#listener = new Listener({ config: connection.config, channel, ownNotice })
    this.driver = new PostgresDriver({
      acquire: () => this.#acquire(),
      end: () => this.#end(),
      explain: (error) => this.explain(error),
      subscribe: (onNotice) => this.#listener.add(onNotice),
      notice: { sql: 'SELECT pg_notify(?, ?)', values: [channel, ownNotice] },
      ...{ schema, isPrepared, pollMs },
    })
  }

  /** Refuses a server that cannot hold a store any more: read-only, or with another time. */
  async check(): Promise<void> {
    try {
      await this.#open()
      await this.#session(this.#limitMs, (session) => examine(session, this.#place))
    } catch (error) {
      throw this.explain(error)
    }
  }

  /** Throws PROCESS_CUT_OFF if the tables were migrated while this process ran; from then on, every use does. */
  async assertCurrent(): Promise<void> {
    await this.#open()
    try {
      this.#outdated = await this.#session(this.#limitMs, (session) => outdated(session, this.#place))
    } catch (error) {
      throw this.explain(error)
    }
    if (this.#outdated) throw this.#outdated
  }

  /** Executes a statement as it is, with `$1` placeholders; without values it may consist of several. */
  async query(sql: string, values?: readonly unknown[]): Promise<{ rows: unknown[] }> {
    await this.#open()
    return this.#session(this.#limitMs, (session) => session.query(sql, values))
  }

  /** Name of the schema. */
  get schema(): string {
    return this.#place.schema
  }

  /** Takes the tables to the version of this tool-hub; returns the versions before and after. */
  migrate(options?: { readonly force?: boolean }): Promise<{ readonly from: number; readonly to: number }> {
    return this.#asItIs((session, place) => migrateSchema(session, place, options))
  }

  /** The version of the tables, 0 if there are none, and the version that this tool-hub needs; nothing is changed. */
  async version(): Promise<{ readonly from: number; readonly to: number }> {
    return { from: await this.#asItIs(knownVersion), to: this.#place.steps.length }
  }

  /** Works on the database, whatever its version. */
  async #asItIs<T>(work: (session: PostgresSession, place: SchemaPlace) => Promise<T>): Promise<T> {
    try {
      return await this.#session(MAX_MIGRATION_MS, (session) => work(session, this.#place))
    } catch (error) {
      throw this.explain(error)
    }
  }

  /** Host, port, database and schema, for messages. */
  get name(): string {
    const { name, schema } = this.#place
    return `${name} (schema ${schema})`
  }

  explain(error: unknown): unknown {
    return toPostgresError(error, this.#place, !this.#wasOpen)
  }

  /** How long to wait for the answer to a statement. */
  get #limitMs(): number {
    return this.#place.statementTimeoutMs + GRACE_MS
  }

  async #acquire(): Promise<PostgresSession> {
    await this.#open()
    const pool = await this.#connect()
    return toSession(await pool.connect(), this.#limitMs)
  }

  /** Once; after a failure, the next use tries again. */
  #open(): Promise<void> | undefined {
    if (this.#outdated) throw this.#outdated
    if (this.#wasOpen) return undefined
    this.#opening ??= this.#session(MAX_MIGRATION_MS, (session) => openSchema(session, this.#place)).then(
      () => {
        this.#wasOpen = true
      },
      (error: unknown) => {
        this.#opening = undefined
        throw error
      },
    )
    return this.#opening
  }

  /** How many connections are in use; `undefined` before the first. */
  poolUse(): PoolUse | undefined {
    if (!this.#opened) return undefined
    const { totalCount, idleCount, waitingCount, options } = this.#opened
    return { max: options.max, open: totalCount, idle: idleCount, waiting: waitingCount }
  }

  async #session<T>(limitMs: number, work: (session: PostgresSession) => Promise<T>): Promise<T> {
    const pool = await this.#connect()
    const session = toSession(await pool.connect(), limitMs)
    try {
      const result = await work(session)
      session.release()
      return result
    } catch (error) {
      session.release(true)
      throw error
    }
  }

  async #connect(): Promise<Pool> {
    if (this.#isClosed) throw storeClosed()
    this.#pool ??= createPool(this.#connection).catch((error: unknown) => {
      this.#pool = undefined
      throw error
    })
    this.#opened = await this.#pool
    return this.#opened
  }

  async #end(): Promise<void> {
    this.#isClosed = true
    await this.#listener.close()
    const pool = await this.#pool?.catch(() => undefined)
    await pool?.end()
  }
}

/** Types that `pg` returns as text: BIGINT, and NUMERIC, which is a sum of those. */
const NUMBERS: ReadonlySet<number> = new Set([20, 1700])

/** Creates the connections of a store; the first one is made when it is needed. */
async function createPool({ place, config }: PostgresConnection): Promise<Pool> {
  const pg = await loadPg()
  const pool = new pg.Pool({
    ...config,
    types: {
      getTypeParser: (id: number, format?: 'text') =>
        NUMBERS.has(id) ? Number : (pg.types.getTypeParser(id, format) as (text: string) => unknown),
    } as PoolConfig['types'],
    async onConnect(client) {
      // A connection that is lost between two statements; the next one reports it.
      client.on('error', () => {})
      await client.query(sessionSettings(place))
    },
  })
  // A connection that is lost while nobody uses it; the pool has removed it.
  pool.on('error', () => {})
  return pool
}

/** A connection of the pool, for one piece of work. If no answer comes for `limitMs`, the connection is dead. */
function toSession(client: PoolClient, limitMs: number): PostgresSession {
  return {
    query: (sql, values, name) => withLimit(client, { text: sql, values, name }, limitMs),
    release: (isBroken = false) => client.release(isBroken),
  }
}

async function withLimit(
  client: PoolClient,
  query: { readonly text: string; readonly values?: readonly unknown[]; readonly name?: string },
  limitMs: number,
): Promise<PostgresResult> {
  const timer = setTimeout(() => void client.end().catch(() => {}), limitMs)
  try {
    const { rows, rowCount } = await client.query({ ...query, values: query.values as unknown[] })
    return { rows, count: rowCount }
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Nothing outside of the schema is found by its name. A process that is stopped in a transaction loses it before others
 * give up waiting for its locks. Commits are on disk before they are acknowledged, also if the server has it otherwise.
 */
function sessionSettings({ schema, statementTimeoutMs }: PostgresPlace): string {
  return `SET search_path TO "${schema}", pg_temp;
    SET statement_timeout TO ${statementTimeoutMs};
    SET idle_in_transaction_session_timeout TO ${Math.ceil(statementTimeoutMs / 2)};
    SET default_transaction_isolation TO 'read committed';
    SET client_min_messages TO warning;
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`
}
