import { ToolError } from '../errors.ts'
import type { FeatureStores } from '../feature-registry.ts'
import type { Awaitable } from '../lib/index.ts'

/** The value of a column. */
export type SqlValue = string | number | Uint8Array | null

/** The value of a placeholder; `undefined` is NULL. */
export type Bindable = SqlValue | undefined

/** Runs statements with `?` placeholders, in the SQL that SQLite and PostgreSQL share. */
export interface Queries {
  readonly dialect: 'sqlite' | 'postgres'
  /** All rows. */
  all(sql: string, values: readonly Bindable[]): Awaitable<readonly unknown[]>
  /** The first row. Use it for a write in a transaction only: SQLite would not report that a commit failed. */
  get(sql: string, values: readonly Bindable[]): Awaitable<unknown>
  /** Returns how many rows were changed. */
  run(sql: string, values: readonly Bindable[]): Awaitable<number>
  /** Takes more locks in a transaction; see `Driver.transaction`. Absent if a transaction is alone anyway. */
  lock?(names: readonly string[]): Promise<void>
}

/** The lock of a transaction that names none. */
export const WHOLE_STORE: readonly string[] = ['store']

/**
 * A database. A driver may answer synchronously or with promises: SQLite does the former, because budgets, rates and
 * idempotency keys are on the path of every call (bench rows `store-keys` and `service-call`), a database server the latter.
 */
export interface Driver extends Queries {
  /**
   * All of the work happens, as if it were alone, or none of it. A driver may run the work again after a conflict.
   * @param locks Names of what the work reads before it writes, such as `budget:<account>`: only work with one of the same
   * names waits for it. Work that needs no lock, such as a single statement, passes none. Default: the whole store, which
   * is right for all work that is rare. SQLite runs one transaction at a time and ignores the names.
   */
  transaction<T>(work: (queries: Queries) => Awaitable<T>, locks?: readonly string[]): Awaitable<T>
  /** Calls back when another process may have written something, again if that fails; returns a function that stops it. */
  listen(onChange: () => Awaitable<void>): () => void
  /** Lets `listen` of other processes call back soon. Absent if they notice it themselves. */
  notify?(): void
  close(): Promise<void>
}

/**
 * Work on a database, written once for every driver: a generator that `yield*`s its queries as an asynchronous function
 * would `await` them. SQLite needs this for more than speed. A process has one connection to a file, so a transaction
 * that waited between its statements would take in the statements of other calls, and a second store on the same file
 * would block the only thread that could end it.
 */
export type Work<T> = Generator<Query, T, unknown>

type Query =
  | { readonly kind: 'all' | 'get' | 'run'; readonly sql: string; readonly values: readonly Bindable[] }
  | { readonly kind: 'transaction'; readonly work: () => Work<unknown>; readonly locks?: readonly string[] }
  | { readonly kind: 'dialect' }

/** All rows of a query. Their type is what the columns say: only tool-hub writes the database. */
export function* all<Row>(sql: string, ...values: Bindable[]): Work<Row[]> {
  return (yield { kind: 'all', sql, values }) as Row[]
}

/** The first row of a query. */
export function* get<Row>(sql: string, ...values: Bindable[]): Work<Row | undefined> {
  return (yield { kind: 'get', sql, values }) as Row | undefined
}

/** Executes a statement and returns how many rows it changed. */
export function* run(sql: string, ...values: Bindable[]): Work<number> {
  return (yield { kind: 'run', sql, values }) as number
}

/** Does the work in a transaction, or in the one that it is already part of; `Driver.transaction` says what `locks` are. */
export function* transaction<T>(work: () => Work<T>, locks?: readonly string[]): Work<T> {
  return (yield { kind: 'transaction', work, locks }) as T
}

/** The database at work, for the few statements that differ. */
export function* dialect(): Work<Queries['dialect']> {
  return (yield { kind: 'dialect' }) as Queries['dialect']
}

/** Does the work; synchronously if the driver answers synchronously. */
export function perform<T>(queries: Queries | Driver, work: Work<T>): Awaitable<T> {
  let step = work.next()
  while (!step.done) {
    let answer: unknown
    try {
      answer = execute(queries, step.value)
    } catch (error) {
      step = work.throw(error)
      continue
    }
    if (answer instanceof Promise) return performLater(queries, work, answer)
    step = work.next(answer)
  }
  return step.value
}

/** The methods of a part of the store, each as work on a database. */
export type Repository<Part> = {
  readonly [Method in keyof Part]: Part[Method] extends (...values: never[]) => unknown
    ? (...values: Parameters<Part[Method]>) => Work<Awaited<ReturnType<Part[Method]>>>
    : never
}

/** The part of the store that a repository is on this database. */
export function bind<Part>(driver: Driver, repository: Repository<Part>): Part {
  const methods: [string, (...values: unknown[]) => Work<unknown>][] = Object.entries(repository)
  return Object.fromEntries(
    methods.map(([name, method]) => [name, (...values: unknown[]) => perform(driver, method(...values))]),
  ) as Part
}

async function performLater<T>(queries: Queries, work: Work<T>, answer: Promise<unknown>): Promise<T> {
  let pending = answer
  for (;;) {
    const outcome = await pending.then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    )
    const step = 'error' in outcome ? work.throw(outcome.error) : work.next(outcome.value)
    if (step.done) return step.value
    // In a promise of its own, so that a query that throws rejects.
    pending = new Promise((resolve) => resolve(execute(queries, step.value)))
  }
}

function execute(queries: Queries | Driver, query: Query): unknown {
  if (query.kind === 'dialect') return queries.dialect
  if (query.kind !== 'transaction') return queries[query.kind](query.sql, query.values)
  if ('transaction' in queries) return queries.transaction((inner) => perform(inner, query.work()), query.locks)
  if (!queries.lock) return perform(queries, query.work())
  return queries.lock(query.locks ?? WHOLE_STORE).then(() => perform(queries, query.work()))
}

/** The values of a statement for a database. Throws INPUT_SCHEMA_INVALID for a text with a NUL character. */
export function toSqlValues(values: readonly Bindable[]): SqlValue[] {
  return values.map((value) => {
    if (typeof value === 'string') assertNoNul(value)
    return value ?? null
  })
}

/** SQLite would end a text at its first NUL, and two different keys would be one; PostgreSQL takes no such text. */
function assertNoNul(text: string): void {
  if (text.includes('\0'))
    throw new ToolError('INPUT_SCHEMA_INVALID', 'Text in the store must not contain a NUL character.', {
      hint: 'Leave the character U+0000 out of names, keys and texts.',
    })
}

/** The error of a store that is used after it was closed. */
export function storeClosed(): ToolError {
  return new ToolError('RECORDS_UNAVAILABLE', 'The store is closed.', {
    hint: 'Start the hub again.',
    retryable: false,
  })
}

/** A condition with its value, or with one for each of its placeholders; it is left out if the value is `undefined`. */
export type Condition = readonly [sql: string, value: Bindable | readonly Bindable[]]

/** Later than every time: with a bound on time, SQLite reads along the index of times instead of sorting the whole table. */
export const ANY_TIME = Number.MAX_SAFE_INTEGER

const MAX_PAGE_SIZE = 10_000

/** A page of the rows that meet the conditions. */
export function page<Row>(
  { select, order }: { readonly select: string; readonly order: string },
  conditions: readonly Condition[],
  limit: number | undefined,
): Work<Row[]> {
  const used = conditions.filter(([, value]) => value !== undefined)
  const where = used.map(([sql]) => sql).join(' AND ') || '1 = 1'
  const values = used.flatMap(([, value]) => value)
  return all(`${select} WHERE ${where} ORDER BY ${order} LIMIT ?`, ...values, pageSize(limit))
}

/** The row of a query that always has one, such as a count. */
export function* one<Row>(sql: string, ...values: Bindable[]): Work<Row> {
  return (yield* get<Row>(sql, ...values))!
}

/** How many rows meet a condition. */
export function* count(from: string, ...values: Bindable[]): Work<number> {
  const { n } = yield* one<{ readonly n: number }>(`SELECT COUNT(*) AS n FROM ${from}`, ...values)
  return n
}

/** The next number of a counter. Counters have rows of their own, so that no number is ever given twice. */
export function* nextNumber(name: string): Work<number> {
  const next = 'UPDATE counters SET value = value + 1 WHERE name = ? RETURNING value'
  return (yield* one<{ readonly value: number }>(next, name)).value
}

/** How many entries a page has: as many as asked for, and never more than 10,000. */
export function pageSize(limit: number | undefined): number {
  if (limit === undefined || Number.isNaN(limit)) return MAX_PAGE_SIZE
  return Math.min(Math.max(0, Math.trunc(limit)), MAX_PAGE_SIZE)
}

/** A pattern for `LIKE … ESCAPE '!'` that finds the text anywhere, with its own `%` and `_` taken literally. */
export function likePattern(text: string): string {
  return `%${text.replaceAll(/[!%_]/g, '!$&')}%`
}

/** Orders ids and names by their code units: negative if `a` comes first, 0 if they are the same. */
export function compareIds(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

/**
 * SQL by the version of the database that it makes: one text for both databases, or one for each where they differ. In a
 * shared text, PostgreSQL gets `TEXT COLLATE "C"` for TEXT, which orders as SQLite does.
 */
export type Migrations = Readonly<Record<number, string | { readonly sqlite: string; readonly postgres: string }>>

/**
 * What makes tables: a table that is described by `defineTable`, or SQL. A database has one version for all features; a
 * change takes the next one.
 */
export interface TableSource {
  readonly migrations: Migrations
}

/** The repositories of parts of a store. */
export type RepositoriesOf<Parts> = { readonly [Name in keyof Parts]: Repository<Parts[Name]> }

/** The clock that all processes are measured by: that of the database if several machines use it. */
export interface StoreClock {
  time(): Work<number>
}

/** What a feature keeps in the store: `store.ts` of its folder exports this as `<name>Store`. */
export interface FeatureStore<Parts extends Partial<FeatureStores> = Partial<FeatureStores>> {
  /** Its repositories, by their keys in the store. */
  readonly repositories: RepositoriesOf<Parts> | ((clock: StoreClock) => RepositoriesOf<Parts>)
  /** Its tables, in the order in which they are created, and SQL of its own between them. */
  readonly tables: readonly TableSource[]
  /** The methods that resolve only when what they wrote survives a loss of power. */
  readonly durable: { readonly [Name in keyof Parts]?: readonly (keyof Parts[Name] & string)[] }
  /** Methods that return an empty list as long as no database exists: they do not create one. Default: none. */
  readonly emptyAtFirst?: { readonly [Name in keyof Parts]?: readonly (keyof Parts[Name] & string)[] }
  /** How many rows a store in memory holds of each table. */
  readonly bounds: { readonly [Name in keyof Parts]?: readonly TableBound[] }
  /** Deletes what has expired. Default: nothing does. */
  readonly sweep?: (now: number) => Work<void>
  /** A condition on a row of `runs`, with one `?` for a pattern: a search finds such runs too. Default: none. */
  readonly runText?: string
  /** Tables whose rows follow from others and differ between databases. Default: none. */
  readonly derived?: DerivedTables
}

/** Tables that a copy of a store builds anew, such as an index for searches. */
export interface DerivedTables {
  readonly tables: readonly string[]
  /** Fills them from the other tables. */
  rebuild(): Work<void>
}

/** A table that holds a limited number of rows. */
export interface TableBound {
  readonly table: string
  /** The methods that add rows. */
  readonly methods: readonly string[]
  /** What the rows are, for the error. */
  readonly what: string
  /** Selects rows that may be evicted, as `key`, the first ones first. Default: none may. */
  readonly evict?: { readonly column: string; readonly select: string }
}

/** The same for any feature. */
export interface StoreOfFeature {
  readonly repositories: Readonly<Record<string, object>> | ((clock: StoreClock) => Readonly<Record<string, object>>)
  readonly tables: readonly TableSource[]
  readonly durable: Readonly<Record<string, readonly string[] | undefined>>
  readonly emptyAtFirst?: Readonly<Record<string, readonly string[] | undefined>>
  readonly bounds: Readonly<Record<string, readonly TableBound[] | undefined>>
  readonly sweep?: (now: number) => Work<void>
  readonly runText?: string
  readonly derived?: DerivedTables
}

/** Defines what a feature keeps in the store. */
export function defineStore<Parts extends Partial<FeatureStores>>(store: FeatureStore<Parts>): FeatureStore<Parts> {
  return store
}
