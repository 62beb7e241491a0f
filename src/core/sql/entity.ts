import type { Bindable } from './driver.ts'

/** A column with the form in which it holds its value: as it is, as 0 or 1, or as JSON. */
export interface Column {
  readonly name: string
  readonly form: 'plain' | 'flag' | 'json'
}

/** The column of each field of an entity. */
export type Columns<T> = { readonly [Field in keyof Required<T>]: string | Column }

/** How an entity is kept in a table: the one place where its columns are written down. */
export interface Entity<T> {
  /** The names of all columns, for SELECT and RETURNING. */
  readonly columns: string
  /** As many placeholders as there are columns. */
  readonly marks: string
  /** `INSERT INTO … VALUES …` of all columns; takes `values`. */
  readonly insert: string
  /** The same, which replaces the row with the same key. */
  upsert(key: string): string
  /** The columns of the table in a join, each with the alias of the table before its name. */
  columnsOf(alias: string): string
  /** The values of an entity, in the order of its columns. */
  values(entity: T): Bindable[]
  /** The entity of a row; of the columns of `alias` in a join. A field that is NULL is absent. */
  read(row: unknown, alias?: string): T
}

/** A column that holds 0 or 1. */
export function flag(name: string): Column {
  return { name, form: 'flag' }
}

/** A column that holds JSON. */
export function json(name: string): Column {
  return { name, form: 'json' }
}

/** Describes how an entity is kept in a table. */
export function entity<T extends object>(table: string, columns: Columns<T>): Entity<T> {
  const fields = Object.entries<string | Column>(columns).map(([field, column]) => ({
    field,
    ...(typeof column === 'string' ? { name: column, form: 'plain' as const } : column),
  }))
  const names = fields.map(({ name }) => name)
  const list = names.join(', ')
  const marks = names.map(() => '?').join(', ')
  const insert = `INSERT INTO ${table} (${list}) VALUES (${marks})`
  return {
    columns: list,
    marks,
    insert,
    upsert(key) {
      const replaced = names.filter((name) => name !== key).map((name) => `${name} = excluded.${name}`)
      return `${insert} ON CONFLICT (${key}) DO UPDATE SET ${replaced.join(', ')}`
    },
    columnsOf: (alias) => names.map((name) => `${alias}.${name} AS ${alias}_${name}`).join(', '),
    values(entity) {
      const held = entity as Readonly<Record<string, unknown>>
      return fields.map(({ field, form }) => encode(held[field], form))
    },
    read(row, alias) {
      const held = row as Readonly<Record<string, unknown>>
      const read: Record<string, unknown> = {}
      for (const { field, name, form } of fields) {
        const value = held[alias === undefined ? name : `${alias}_${name}`]
        if (value !== null) read[field] = decode(value, form)
      }
      return read as T
    },
  }
}

function encode(value: unknown, form: Column['form']): Bindable {
  if (form === 'flag') return value ? 1 : 0
  if (form === 'json') return value === undefined ? undefined : JSON.stringify(value)
  return value as Bindable
}

function decode(value: unknown, form: Column['form']): unknown {
  if (form === 'flag') return value === 1
  return form === 'json' ? JSON.parse(value as string) : value
}
