import { all, type Bindable, get, type Work } from './driver.ts'

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
