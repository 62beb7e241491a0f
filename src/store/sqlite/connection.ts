import { statsIfThere } from '../../disk/stats-if-there.ts'
import { messageOf, ToolError } from '../../errors.ts'
import { Generation } from './generation.ts'
import type { SqliteDatabase, SqliteStatement, SqlValue } from './load-sqlite.ts'
import { LogSync, type SyncFile } from './log-sync.ts'
import { closeDatabase, type DatabaseOptions, openDatabase } from './open-database.ts'
import { damaged, isDamage, replaced, toStoreError } from './store-error.ts'

/** What may be given for a column; what is undefined is none. */
export type Bindable = SqlValue | undefined

/** A statement that is prepared at its first use and stays so. Its rows are as the columns say: the file is ours. */
export interface Statement<Row> {
  /** Executes it and says how many rows it changed. */
  run(...values: Bindable[]): number
  /** The first row. Never for a write outside a transaction: SQLite would not tell that it could not be kept. */
  get(...values: Bindable[]): Row | undefined
  all(...values: Bindable[]): Row[]
}

/** How the file is opened and synced. */
export interface ConnectionOptions extends DatabaseOptions {
  /** For tests of a failing disk. */
  readonly syncFile?: SyncFile
  /** How long after a durable write the file beside the store says that there is something newer. */
  readonly markMs: number
}

/** The file of a store, opened at its first use. */
export class Connection {
  readonly path: string
  readonly options: ConnectionOptions
  readonly generation: Generation
  readonly #log: LogSync
  #database: SqliteDatabase | undefined
  #isClosed = false
  #isInTransaction = false
  /** What was found wrong with the file; it does not get better by itself. */
  #damage: ToolError | undefined
  #isExamined = false
  /** Which files the store and its log were at the first look. */
  #files: string | undefined
  readonly #begin = this.statement('BEGIN IMMEDIATE')
  readonly #commit = this.statement('COMMIT')
  readonly #rollback = this.statement('ROLLBACK')
  readonly #quickCheck = this.statement<{ quick_check: string }>('PRAGMA quick_check(1)')

  constructor(path: string, options: ConnectionOptions) {
    this.path = path
    this.options = options
    this.#log = new LogSync(path, options.syncFile)
    this.generation = new Generation(this)
  }

  statement<Row>(sql: string): Statement<Row> {
    let prepared: SqliteStatement | undefined
    const execute = <T>(
      values: readonly Bindable[],
      work: (statement: SqliteStatement, values: SqlValue[]) => T,
    ): T => {
      const bound = values.map(toSqlValue)
      try {
        prepared ??= this.#open().prepare(sql)
        return work(prepared, bound)
      } catch (error) {
        if (isDamage(error)) this.#damage ??= damaged(this.path, messageOf(error), error)
        throw this.#isClosed ? closed() : toStoreError(error, this.path)
      }
    }
    return {
      run: (...values) => {
        const changes = execute(values, (statement, bound) => Number(statement.run(...bound).changes))
        if (changes > 0 && !this.#isInTransaction) this.#log.wrote()
        return changes
      },
      get: (...values) => execute(values, (statement, bound) => statement.get(...bound) as Row | undefined),
      all: (...values) => execute(values, (statement, bound) => statement.all(...bound) as Row[]),
    }
  }

  /** All of it happens, alone, or nothing does. */
  transaction<T>(work: () => T): T {
    this.#isInTransaction = true
    try {
      const result = this.#transact(work)
      this.#log.wrote()
      return result
    } finally {
      this.#isInTransaction = false
    }
  }

  /** Resolves when all that was written so far survives a loss of power; undefined when it does already. */
  synced(): Promise<void> | undefined {
    return this.#log.synced()
  }

  /** Throws when the file is damaged: looked through whole the first time, afterwards as far as it was met in use. */
  assertIntact(): void {
    if (!this.#isExamined) {
      const [first] = this.#quickCheck.all()
      if (first?.quick_check !== 'ok')
        this.#damage ??= damaged(this.path, first?.quick_check ?? 'it cannot be examined')
      this.#isExamined = true
    }
    if (this.#damage) throw this.#damage
  }

  /** Throws if the file or its log was removed or replaced since the first look: then nobody finds what is written here. */
  assertInPlace(): void {
    const files = [this.path, `${this.path}-wal`].map(identityOf).join(' ')
    this.#files ??= files
    if (files !== this.#files) throw replaced(this.path)
  }

  /** Opens the file when it is not yet. */
  open(): void {
    try {
      this.#open()
    } catch (error) {
      throw toStoreError(error, this.path)
    }
  }

  async close(): Promise<void> {
    const marked = this.generation.close()
    this.#isClosed = true
    await this.#log.close()
    await marked
    if (this.#database) closeDatabase(this.#database)
    this.#database = undefined
  }

  #open(): SqliteDatabase {
    if (this.#isClosed) throw closed()
    this.#database ??= openDatabase(this.path, this.options)
    return this.#database
  }

  #transact<T>(work: () => T): T {
    this.#begin.run()
    try {
      const result = work()
      this.#commit.run()
      return result
    } catch (error) {
      this.#rollBack()
      throw error
    }
  }

  #rollBack(): void {
    try {
      this.#rollback.run()
    } catch {
      // SQLite has rolled back by itself, as it does on a full disk; the first error is the one that counts.
    }
  }
}

/** SQLite would end a text at its first NUL, and two different keys would be one. */
function toSqlValue(value: Bindable): SqlValue {
  if (value === undefined) return null
  if (typeof value === 'string' && value.includes('\0'))
    throw new ToolError('INPUT_SCHEMA_INVALID', 'What the store keeps may hold no NUL character.', {
      hint: 'Leave the character U+0000 out of names, keys and texts.',
    })
  return value
}

function identityOf(path: string): string {
  const stats = statsIfThere(path)
  return stats ? `${stats.dev}:${stats.ino}` : 'none'
}

function closed(): ToolError {
  return new ToolError('RECORDS_UNAVAILABLE', 'The store is closed.', {
    hint: 'Start the hub again.',
    retryable: false,
  })
}
