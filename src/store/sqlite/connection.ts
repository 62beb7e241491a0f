import { ToolError } from '../../errors.ts'
import type { SqliteDatabase, SqliteStatement, SqlValue } from './load-sqlite.ts'
import { closeDatabase, type DatabaseOptions, openDatabase } from './open-database.ts'
import { toStoreError } from './store-error.ts'

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

/** The file of a store, opened at its first use. */
export class Connection {
  readonly path: string
  readonly options: DatabaseOptions
  #database: SqliteDatabase | undefined
  #isClosed = false
  readonly #begin = this.statement('BEGIN IMMEDIATE')
  readonly #commit = this.statement('COMMIT')
  readonly #rollback = this.statement('ROLLBACK')

  constructor(path: string, options: DatabaseOptions) {
    this.path = path
    this.options = options
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
        throw this.#isClosed ? closed() : toStoreError(error, this.path)
      }
    }
    return {
      run: (...values) => execute(values, (statement, bound) => Number(statement.run(...bound).changes)),
      get: (...values) => execute(values, (statement, bound) => statement.get(...bound) as Row | undefined),
      all: (...values) => execute(values, (statement, bound) => statement.all(...bound) as Row[]),
    }
  }

  /** All of it happens, alone, or nothing does. */
  transaction<T>(work: () => T): T {
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

  /** Opens the file when it is not yet. */
  open(): void {
    try {
      this.#open()
    } catch (error) {
      throw toStoreError(error, this.path)
    }
  }

  close(): void {
    this.#isClosed = true
    if (this.#database) closeDatabase(this.#database)
    this.#database = undefined
  }

  #open(): SqliteDatabase {
    if (this.#isClosed) throw closed()
    this.#database ??= openDatabase(this.path, this.options)
    return this.#database
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

function closed(): ToolError {
  return new ToolError('RECORDS_UNAVAILABLE', 'The store is closed.', {
    hint: 'Start the hub again.',
    retryable: false,
  })
}
