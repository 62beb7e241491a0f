import type { Bindable, Connection, Statement } from './connection.ts'

/** A condition with its value, or with one for each of its marks; without a value it does not count. */
export type Condition = readonly [sql: string, value: Bindable | readonly Bindable[]]

/** Later than all: with a bound on time, SQLite reads along the index of times instead of sorting the whole table. */
export const ANY_TIME = Number.MAX_SAFE_INTEGER

/** A query whose conditions vary from call to call; prepared once for each set of them. */
export function filteredQuery<Row>(
  connection: Connection,
  { select, order }: { readonly select: string; readonly order: string },
): (conditions: readonly Condition[], limit: number) => Row[] {
  const statements = new Map<string, Statement<Row>>()
  return (conditions, limit) => {
    const used = conditions.filter(([, value]) => value !== undefined)
    const where = used.map(([sql]) => sql).join(' AND ') || '1 = 1'
    const statement =
      statements.get(where) ?? connection.statement<Row>(`${select} WHERE ${where} ORDER BY ${order} LIMIT ?`)
    statements.set(where, statement)
    return statement.all(...used.flatMap(([, value]) => value), limit)
  }
}
