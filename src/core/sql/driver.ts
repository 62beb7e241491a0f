import type { Awaitable } from '../store.ts'

/** The value of a column. */
export type SqlValue = string | number | Uint8Array | null

/** The value of a placeholder; `undefined` is NULL. */
export type Bindable = SqlValue | undefined

/** Runs statements with `?` placeholders, in the SQL that SQLite and PostgreSQL share. */
export interface Queries {
  /** All rows. */
  all(sql: string, values: readonly Bindable[]): Awaitable<readonly unknown[]>
  /** The first row. Use it for a write in a transaction only: SQLite would not report that a commit failed. */
  get(sql: string, values: readonly Bindable[]): Awaitable<unknown>
  /** Returns how many rows were changed. */
  run(sql: string, values: readonly Bindable[]): Awaitable<number>
}

/**
 * A database. A driver may answer synchronously or with promises: SQLite does the former, because budgets, rates and
 * idempotency keys are on the path of every call (bench rows `store-keys` and `service-call`), a database server the latter.
 */
export interface Driver extends Queries {
  readonly dialect: 'sqlite' | 'postgres'
  /** All of the work happens, as if it were alone, or none of it. A driver may run the work again after a conflict. */
  transaction<T>(work: (queries: Queries) => Awaitable<T>): Awaitable<T>
  /** Calls back when another process may have written something, again if that fails; returns a function that stops it. */
  listen(onChange: () => Awaitable<void>): () => void
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
  | { readonly kind: 'transaction'; readonly work: () => Work<unknown> }

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

/** Does the work in a transaction, or in the one that it is already part of. */
export function* transaction<T>(work: () => Work<T>): Work<T> {
  return (yield { kind: 'transaction', work }) as T
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
  if (query.kind !== 'transaction') return queries[query.kind](query.sql, query.values)
  if ('transaction' in queries) return queries.transaction((inner) => perform(inner, query.work()))
  return perform(queries, query.work())
}
