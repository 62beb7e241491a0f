import { setTimeout as wait } from 'node:timers/promises'
import type { Awaitable } from '@tool-hub/core'
import { type Bindable, type Driver, type Queries, storeClosed, toSqlValues, WHOLE_STORE } from '@tool-hub/core/sql'
import { isConflict, isLost, unknownOutcome } from './errors.ts'
import { lockStatement, Statements } from './statements.ts'

/** Rows and how many a statement changed. */
export interface PostgresResult {
  readonly rows: unknown[]
  /** How many rows were changed or returned; `null` for a statement that does neither. */
  readonly count: number | null
}

/** A connection that one piece of work has for itself. */
export interface PostgresSession {
  /** Executes a statement; without values it may consist of several. A name keeps it prepared. */
  query(sql: string, values?: readonly unknown[], name?: string): Promise<PostgresResult>
  /** Returns the connection; one that is broken is closed. */
  release(isBroken?: boolean): void
}

/** What a driver needs from its owner. */
export interface PostgresDriverOptions {
  /** Waits for a connection to a database at the current version. */
  acquire(): Promise<PostgresSession>
  /** Closes all connections, once they are returned. */
  end(): Promise<void>
  /** Explains an error of PostgreSQL. Default: it stays as it is. */
  explain?(error: unknown): unknown
  /** Calls back when another process has notified this one; returns a function that stops it. */
  subscribe?(onNotice: () => void): () => void
  /** Executed by `notify`: the statement that lets others call back. */
  readonly notice?: { readonly sql: string; readonly values: readonly Bindable[] }
  /** Name of the schema: locks of different schemas are different. */
  readonly schema: string
  /** Whether statements are kept prepared. Default: true. */
  readonly isPrepared?: boolean
  /** How often to look for changes of other processes while somebody listens. Default: every second. */
  readonly pollMs?: number
}

/** How often work is done again after a conflict, or after its connection was lost before it was committed. */
const MAX_ATTEMPTS = 5
const MAX_PAUSE_MS = 100

/**
 * A PostgreSQL database, which answers with promises. Every transaction takes its locks first and then sees what those
 * before it have committed (READ COMMITTED): work with the same locks is done one after the other, as in SQLite, and nothing
 * fails because of work that is done concurrently.
 */
export class PostgresDriver implements Driver {
  readonly dialect = 'postgres'
  readonly #options: PostgresDriverOptions
  readonly #statements: Statements
  /** A driver whose transactions do not wait until they are on disk. */
  readonly unsynced: Driver
  #isClosed = false
  #isNotifying = false

  constructor(options: PostgresDriverOptions) {
    this.#options = options
    this.#statements = new Statements(options.isPrepared ?? true)
    this.unsynced = {
      dialect: 'postgres',
      all: (sql, values) => this.all(sql, values),
      get: (sql, values) => this.get(sql, values),
      run: (sql, values) => this.run(sql, values),
      transaction: (work, locks) => this.#transact(work, `${this.#begin(locks)}; SET LOCAL synchronous_commit TO off`),
      listen: (onChange) => this.listen(onChange),
      close: () => this.close(),
    }
  }

  async all(sql: string, values: readonly Bindable[] = []): Promise<readonly unknown[]> {
    return (await this.#execute(sql, values)).rows
  }

  async get(sql: string, values: readonly Bindable[] = []): Promise<unknown> {
    return (await this.#execute(sql, values)).rows[0]
  }

  async run(sql: string, values: readonly Bindable[] = []): Promise<number> {
    return (await this.#execute(sql, values)).count ?? 0
  }

  transaction<T>(work: (queries: Queries) => Awaitable<T>, locks?: readonly string[]): Promise<T> {
    return this.#transact(work, this.#begin(locks))
  }

  listen(onChange: () => Awaitable<void>): () => void {
    const { pollMs = 1_000, subscribe } = this.#options
    let isLooking = false
    let isAgain = false
    const look = async () => {
      isAgain = true
      if (isLooking) return
      isLooking = true
      try {
        while (isAgain) {
          isAgain = false
          await onChange()
        }
      } catch {
        // The next look finds the change. The callers of methods learn what is wrong.
      } finally {
        isLooking = false
      }
    }
    const timer = setInterval(look, pollMs).unref()
    const unsubscribe = subscribe?.(look)
    return () => {
      clearInterval(timer)
      unsubscribe?.()
    }
  }

  /** Once for all changes of a turn, and in no transaction of a caller: a notice takes a lock of the whole database. */
  notify(): void {
    const { notice } = this.#options
    if (!notice || this.#isNotifying) return
    this.#isNotifying = true
    setImmediate(() => {
      this.#isNotifying = false
      // Those who miss it look every second.
      this.all(notice.sql, notice.values).catch(() => {})
    })
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#options.end()
  }

  async #execute(sql: string, values: readonly Bindable[]): Promise<PostgresResult> {
    const { text, name, isRead } = this.#statements.of(sql)
    const bound = toSqlValues(values)
    for (let attempt = 1; ; attempt++) {
      const session = await this.#acquire()
      try {
        const result = await session.query(text, bound, name)
        session.release()
        return result
      } catch (error) {
        const hasLost = isLost(error)
        session.release(hasLost)
        // A write whose connection was lost may have been committed.
        if (hasLost && !isRead) throw unknownOutcome(error)
        if (attempt >= MAX_ATTEMPTS || !(hasLost || isConflict(error))) throw this.#explain(error)
      }
      await pause(attempt)
    }
  }

  async #transact<T>(work: (queries: Queries) => Awaitable<T>, begin: string): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const session = await this.#acquire()
      const transaction = new Transaction(session, this.#statements, this.#options)
      try {
        return await transaction.perform(work, begin)
      } catch (error) {
        if (attempt >= MAX_ATTEMPTS || !transaction.mayRepeat) throw error
      }
      await pause(attempt)
    }
  }

  #begin(locks = WHOLE_STORE): string {
    return locks.length === 0 ? 'BEGIN' : `BEGIN; ${lockStatement(this.#options.schema, locks)}`
  }

  async #acquire(): Promise<PostgresSession> {
    if (this.#isClosed) throw storeClosed()
    try {
      return await this.#options.acquire()
    } catch (error) {
      throw this.#explain(error)
    }
  }

  #explain(error: unknown): unknown {
    return this.#isClosed ? storeClosed() : (this.#options.explain?.(error) ?? error)
  }
}

/** One attempt at a transaction. */
class Transaction {
  readonly #session: PostgresSession
  readonly #statements: Statements
  readonly #options: PostgresDriverOptions
  /** The first error of the database: the transaction cannot be committed after it, whatever the work makes of it. */
  #failure: { readonly error: unknown } | undefined
  #isCommitting = false

  constructor(session: PostgresSession, statements: Statements, options: PostgresDriverOptions) {
    this.#session = session
    this.#statements = statements
    this.#options = options
  }

  /** Whether nothing of it has happened, and it may succeed if it is done again. */
  get mayRepeat(): boolean {
    if (!this.#failure) return false
    const { error } = this.#failure
    return isConflict(error) || (isLost(error) && !this.#isCommitting)
  }

  async perform<T>(work: (queries: Queries) => Awaitable<T>, begin: string): Promise<T> {
    try {
      await this.#query(begin)
      const result = await work(this.#queries())
      if (this.#failure) throw this.#explain(this.#failure.error)
      this.#isCommitting = true
      await this.#query('COMMIT')
      this.#session.release()
      return result
    } catch (error) {
      await this.#rollBack()
      throw error
    }
  }

  #queries(): Queries {
    const execute = (sql: string, values: readonly Bindable[]) => {
      const { text, name } = this.#statements.of(sql)
      return this.#query(text, toSqlValues(values), name)
    }
    return {
      dialect: 'postgres',
      all: async (sql, values) => (await execute(sql, values)).rows,
      get: async (sql, values) => (await execute(sql, values)).rows[0],
      run: async (sql, values) => (await execute(sql, values)).count ?? 0,
      lock: async (names) => {
        if (names.length > 0) await this.#query(lockStatement(this.#options.schema, names))
      },
    }
  }

  async #query(sql: string, values?: readonly unknown[], name?: string): Promise<PostgresResult> {
    try {
      return await this.#session.query(sql, values, name)
    } catch (error) {
      this.#failure ??= { error }
      throw this.#isCommitting && isLost(error) ? unknownOutcome(error) : this.#explain(error)
    }
  }

  async #rollBack(): Promise<void> {
    let isBroken = this.#failure !== undefined && isLost(this.#failure.error)
    try {
      if (!isBroken) await this.#session.query('ROLLBACK')
    } catch {
      // The connection is lost; PostgreSQL rolls back by itself.
      isBroken = true
    }
    this.#session.release(isBroken)
  }

  #explain(error: unknown): unknown {
    return this.#options.explain?.(error) ?? error
  }
}

/** Others, which have the same to wait for, should not come back at the same moment. */
function pause(attempt: number): Promise<void> {
  return wait(Math.random() * Math.min(MAX_PAUSE_MS, 5 * 2 ** attempt))
}
