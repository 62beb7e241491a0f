import type { Awaitable } from '@tool-hub/core'
import { type Bindable, type Driver, type Queries, storeClosed, toSqlValues } from '@tool-hub/core/sql'
import type { SqliteDatabase, SqliteStatement } from './database.ts'

/** What a driver needs from its owner. */
export interface SqliteDriverOptions {
  /** Opens the database at its first use. */
  open(): SqliteDatabase
  close(database: SqliteDatabase): void
  /** Explains an error of SQLite. Default: it stays as it is. */
  explain?(error: unknown): unknown
  /** Called after every commit. */
  onCommit?(): void
  /** How often to look for commits of other processes while somebody listens. Default: never. */
  readonly pollMs?: number
}

/** A number that changes with every commit of another connection. */
const DATA_VERSION = 'PRAGMA data_version'

/** A SQLite database, which answers synchronously. Statements are prepared at their first use. */
export class SqliteDriver implements Driver {
  readonly dialect = 'sqlite'
  readonly #options: SqliteDriverOptions
  readonly #statements = new Map<string, SqliteStatement>()
  /** Without `transaction`, so that work in a transaction does not begin another. */
  readonly #queries: Queries = {
    dialect: 'sqlite',
    all: (sql, values) => this.all(sql, values),
    get: (sql, values) => this.get(sql, values),
    run: (sql, values) => this.run(sql, values),
  }
  #database: SqliteDatabase | undefined
  #isClosed = false
  #isInTransaction = false

  constructor(options: SqliteDriverOptions) {
    this.#options = options
  }

  get isOpen(): boolean {
    return this.#database !== undefined
  }

  all(sql: string, values: readonly Bindable[] = []): readonly unknown[] {
    const bound = toSqlValues(values)
    try {
      return this.#prepare(sql).all(...bound)
    } catch (error) {
      throw this.#explain(error)
    }
  }

  get(sql: string, values: readonly Bindable[] = []): unknown {
    const bound = toSqlValues(values)
    try {
      return this.#prepare(sql).get(...bound)
    } catch (error) {
      throw this.#explain(error)
    }
  }

  run(sql: string, values: readonly Bindable[] = []): number {
    const bound = toSqlValues(values)
    try {
      const changes = Number(this.#prepare(sql).run(...bound).changes)
      if (changes > 0 && !this.#isInTransaction) this.#options.onCommit?.()
      return changes
    } catch (error) {
      throw this.#explain(error)
    }
  }

  transaction<T>(work: (queries: Queries) => Awaitable<T>): T {
    this.#isInTransaction = true
    try {
      const result = this.#transact(work)
      this.#options.onCommit?.()
      return result
    } finally {
      this.#isInTransaction = false
    }
  }

  listen(onChange: () => Awaitable<void>): () => void {
    const { pollMs } = this.#options
    if (pollMs === undefined) return () => {}
    let seen: number | undefined
    const timer = setInterval(() => {
      try {
        const { data_version: version } = this.get(DATA_VERSION) as { readonly data_version: number }
        if (version === seen) return
        void onChange()
        seen = version
      } catch {
        // Locked for a moment, or closed: the next look finds the change. The callers of methods learn what is wrong.
      }
    }, pollMs).unref()
    return () => clearInterval(timer)
  }

  /** Opens the database if it is not open yet. */
  open(): SqliteDatabase {
    if (this.#isClosed) throw storeClosed()
    try {
      this.#database ??= this.#options.open()
      return this.#database
    } catch (error) {
      throw this.#explain(error)
    }
  }

  /** Reads the whole file. Returns the first problem that SQLite finds in it, or `undefined`. */
  examine(): string | undefined {
    const [first] = this.all('PRAGMA quick_check(1)') as readonly { readonly quick_check: string }[]
    return first?.quick_check === 'ok' ? undefined : (first?.quick_check ?? 'it cannot be examined')
  }

  /** Refuses every statement from now on; `close` closes the database. */
  shut(): void {
    this.#isClosed = true
  }

  async close(): Promise<void> {
    this.shut()
    this.#statements.clear()
    if (this.#database) this.#options.close(this.#database)
    this.#database = undefined
  }

  #prepare(sql: string): SqliteStatement {
    const known = this.#statements.get(sql)
    if (known) return known
    const statement = this.open().prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }

  #transact<T>(work: (queries: Queries) => Awaitable<T>): T {
    this.run('BEGIN IMMEDIATE')
    try {
      const result = work(this.#queries)
      if (result instanceof Promise) throw new Error('A transaction of SQLite must not wait for anything else.')
      this.run('COMMIT')
      return result
    } catch (error) {
      this.#rollBack()
      throw error
    }
  }

  #rollBack(): void {
    try {
      this.run('ROLLBACK')
    } catch {
      // SQLite has rolled back by itself, as it does on a full disk; the first error is the one that counts.
    }
  }

  #explain(error: unknown): unknown {
    return this.#isClosed ? storeClosed() : (this.#options.explain?.(error) ?? error)
  }
}
