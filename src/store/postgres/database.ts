import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { storeClosed } from '../../core/sql/index.ts'
import {
  createPool,
  type PostgresConnection,
  type PostgresConnectOptions,
  parseConnection,
  toSession,
} from './connect.ts'
import { PostgresDriver, type PostgresSession } from './driver.ts'
import { type PostgresPlace, toPostgresError } from './errors.ts'
import { Listener } from './listener.ts'
import { examine, openSchema } from './schema.ts'

/** How to use a database. */
export interface PostgresDatabaseOptions extends PostgresConnectOptions {
  readonly isPrepared: boolean
  readonly pollMs: number
}

/** How much longer than the server this side waits for an answer. */
const GRACE_MS = 2_000
/** A migration of large tables takes its time. */
const MAX_MIGRATION_MS = 24 * 3_600_000

/** A schema of a PostgreSQL database: connected at its first use, and again whenever the connection was lost. */
export class PostgresDatabase {
  readonly driver: PostgresDriver
  readonly #options: PostgresDatabaseOptions
  readonly #connection: PostgresConnection
  readonly #listener: Listener
  #pool: Promise<Pool> | undefined
  #opening: Promise<void> | undefined
  #wasOpen = false
  #isClosed = false

  constructor(options: PostgresDatabaseOptions) {
    this.#options = options
    this.#connection = parseConnection(options)
    const channel = `${options.schema}_events`
    const ownNotice = randomUUID()
    this.#listener = new Listener({ config: this.#connection.config, channel, ownNotice })
    this.driver = new PostgresDriver({
      acquire: () => this.#acquire(),
      end: () => this.#end(),
      explain: (error) => this.explain(error),
      subscribe: (onNotice) => this.#listener.add(onNotice),
      notice: { sql: 'SELECT pg_notify(?, ?)', values: [channel, ownNotice] },
      ...{ schema: options.schema, isPrepared: options.isPrepared, pollMs: options.pollMs },
    })
  }

  /** Refuses a server that cannot hold a store any more: read-only, or with another time. */
  async check(): Promise<void> {
    try {
      await this.#open()
      await this.#session(this.#options.statementTimeoutMs + GRACE_MS, (session) =>
        examine(session, this.#connection.place),
      )
    } catch (error) {
      throw this.explain(error)
    }
  }

  /** Executes a statement as it is, with `$1` placeholders; without values it may consist of several. */
  async query(sql: string, values?: readonly unknown[]): Promise<{ rows: unknown[] }> {
    await this.#open()
    return this.#session(this.#options.statementTimeoutMs + GRACE_MS, (session) => session.query(sql, values))
  }

  /** Name of the schema. */
  get schema(): string {
    return this.#options.schema
  }

  /** Works on the database as it is, whatever its version. */
  async withSession<T>(work: (session: PostgresSession, place: PostgresPlace) => Promise<T>): Promise<T> {
    try {
      return await this.#session(MAX_MIGRATION_MS, (session) => work(session, this.#connection.place))
    } catch (error) {
      throw this.explain(error)
    }
  }

  /** Host, port, database and schema, for messages. */
  get name(): string {
    const { name, schema } = this.#connection.place
    return `${name} (schema ${schema})`
  }

  explain(error: unknown): unknown {
    return toPostgresError(error, this.#connection.place, !this.#wasOpen)
  }

  async #acquire(): Promise<PostgresSession> {
    await this.#open()
    const pool = await this.#connect()
    return toSession(await pool.connect(), this.#options.statementTimeoutMs + GRACE_MS)
  }

  /** Once; after a failure, the next use tries again. */
  #open(): Promise<void> | undefined {
    if (this.#wasOpen) return undefined
    this.#opening ??= this.#session(MAX_MIGRATION_MS, (session) => openSchema(session, this.#connection.place)).then(
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
    return this.#pool
  }

  async #end(): Promise<void> {
    this.#isClosed = true
    await this.#listener.close()
    const pool = await this.#pool?.catch(() => undefined)
    await pool?.end()
  }
}
