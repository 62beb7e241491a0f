import { all, type Bindable, type Condition, get, type Migrations, page, type Work } from './sql.ts'

/** What the declaration of a column says in addition to its type. */
export interface ColumnOptions {
  /** Its name. Default: that of the field in snake_case. */
  readonly name?: string
  /** Whether it is the primary key. */
  readonly key?: boolean
  /** Whether no two rows have the same value. */
  readonly unique?: boolean
  /** The version of the database that adds it. Default: the version that creates the table. */
  readonly since?: number
  /** What rows have in it that existed before. */
  readonly initial?: string | number
  /** Its type in PostgreSQL, if that is another one. */
  readonly inPostgres?: string
}

/** A column: its type in SQL, and how it holds the values of a field. */
export interface Column<Value> extends ColumnOptions {
  readonly type: string
  /** Whether a row may have no value in it. */
  readonly isOptional: boolean
  encode(value: Value): Bindable
  decode(value: unknown): Value
}

/** The columns of a table, by the fields of its rows. */
export type Columns = Readonly<Record<string, Column<unknown>>>

/** What a table or a part of it reads; the comment of a column is that of its field. */
export type Row<T> = T extends { read(row: unknown): infer Fields } ? Fields : never

type RowOf<C> = Flat<
  {
    readonly [Field in keyof C as undefined extends ValueOf<C[Field]> ? never : Field]: ValueOf<C[Field]>
  } & {
    readonly [Field in keyof C as undefined extends ValueOf<C[Field]> ? Field : never]?: ValueOf<C[Field]>
  }
>

/** How rows, or some fields of them, are read and written. */
export interface Entity<Fields> {
  /** The column of each field. */
  readonly names: { readonly [Field in keyof Fields]-?: string }
  /** The names of all columns, for SELECT and RETURNING. */
  readonly columns: string
  /** As many placeholders as there are columns. */
  readonly marks: string
  /** `SELECT … FROM …` of all columns. */
  readonly select: string
  /** `INSERT INTO … VALUES …` of all columns; takes `values`. */
  readonly insert: string
  /** `name = ?` for all columns, for UPDATE; takes `values`. */
  readonly assignments: string
  /** The columns of the table in a join, each with the alias of the table before its name. */
  columnsOf(alias: string): string
  /** The values of an entity, in the order of its columns. */
  values(entity: Fields): Bindable[]
  /** The entity of a row; of the columns of `alias` in a join. A field that is NULL is absent. */
  read(row: unknown, alias?: string): Fields
  /** The first entity that a condition selects, such as `WHERE id = ?`. */
  find(condition: string, ...values: Bindable[]): Work<Fields | undefined>
  /** All entities that a condition selects. */
  list(condition: string, ...values: Bindable[]): Work<Fields[]>
  /** A page of the entities that meet the conditions. */
  page(order: string, conditions: readonly Condition[], limit: number | undefined): Work<Fields[]>
}

/** A table: the one description of its columns, from which its rows, its SQL and its migrations follow. */
export interface Table<C extends Columns> extends Entity<RowOf<C>> {
  /** Its name in the database. */
  readonly name: string
  /** `insert` that replaces the row with the same key. */
  readonly upsert: string
  /** What creates the table, and what adds its later columns and indexes. */
  readonly migrations: Migrations
  /** Some fields of the rows. */
  part<Field extends keyof RowOf<C>>(...fields: Field[]): Entity<Pick<RowOf<C>, Field>>
  /** All fields of the rows but these. */
  without<Field extends keyof RowOf<C>>(...fields: Field[]): Entity<Omit<RowOf<C>, Field>>
}

/** What a table has in addition to its columns. */
export interface TableOptions<Field> {
  /** The fields of the primary key, if it has several. */
  readonly key?: readonly Field[]
  /** Fields that are unique together. */
  readonly unique?: readonly Field[]
  /** The indexes, by what follows the name of the table in theirs. */
  readonly indexes?: Readonly<Record<string, readonly Field[] | TableIndex<Field>>>
}

/** An index that is unique, or that a later version of the database adds. */
export interface TableIndex<Field> {
  readonly on: readonly Field[]
  readonly unique?: boolean
  readonly since?: number
}

/** Columns in which every row has a value. */
export const column = {
  text: <Value extends string = string>(options?: ColumnOptions): Column<Value> => plain('TEXT', options),
  bigint: (options?: ColumnOptions): Column<number> => plain('BIGINT', options),
  integer: (options?: ColumnOptions): Column<number> => plain('INTEGER', options),
  double: (options?: ColumnOptions): Column<number> => plain('DOUBLE PRECISION', options),
  bytes: (options?: ColumnOptions): Column<Uint8Array> => plain('BYTEA', options),
  /** Holds 0 or 1. */
  flag: (options?: ColumnOptions): Column<boolean> => ({
    ...plain<boolean>('INTEGER', options),
    encode: (value) => (value ? 1 : 0),
    decode: (value) => value === 1,
  }),
  /** Holds JSON. */
  json: <Value>(options?: ColumnOptions): Column<Value> => ({
    ...plain<Value>('TEXT', options),
    encode: (value) => (value === undefined ? undefined : JSON.stringify(value)),
    decode: (value) => JSON.parse(value as string),
  }),
}

/** Columns in which a row may have no value. */
export const optional = {
  text: <Value extends string = string>(options?: ColumnOptions) => orNothing(column.text<Value>(options)),
  bigint: (options?: ColumnOptions) => orNothing(column.bigint(options)),
  integer: (options?: ColumnOptions) => orNothing(column.integer(options)),
  double: (options?: ColumnOptions) => orNothing(column.double(options)),
  json: <Value>(options?: ColumnOptions) => orNothing(column.json<Value>(options)),
}

/**
 * Describes a table.
 * @param since The version of the database that creates it. Databases have applied it: a later column says its own.
 */
export function defineTable<const C extends Columns>(
  name: string,
  since: number,
  columns: C,
  options: TableOptions<keyof C & string> = {},
): Table<C> {
  const entity = entityOf<RowOf<C>>(name, columns)
  const keyField = Object.keys(columns).find((field) => columns[field]!.key)
  const keys = (keyField === undefined ? (options.key ?? []) : [keyField]).map((field) => nameOf(columns, field))
  const replaced = Object.values<string>(entity.names).filter((column) => !keys.includes(column))
  return {
    ...entity,
    name,
    upsert: `${entity.insert} ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${replaced
      .map((column) => `${column} = excluded.${column}`)
      .join(', ')}`,
    get migrations() {
      return migrationsOf(name, since, columns, options)
    },
    part: (...fields) =>
      entityOf(
        name,
        pickColumns(columns, (field) => fields.includes(field as never)),
      ),
    without: (...fields) =>
      entityOf(
        name,
        pickColumns(columns, (field) => !fields.includes(field as never)),
      ),
  }
}

type ValueOf<C> = C extends Column<infer Value> ? Value : never
type Flat<T> = { [Field in keyof T]: T[Field] }

function plain<Value>(type: string, options: ColumnOptions = {}): Column<Value> {
  return {
    ...options,
    type,
    isOptional: false,
    encode: (value) => value as Bindable,
    decode: (value) => value as Value,
  }
}

function orNothing<Value>(column: Column<Value>): Column<Value | undefined> {
  const { encode } = column
  return { ...column, isOptional: true, encode: (value) => (value === undefined ? undefined : encode(value)) }
}

function pickColumns(columns: Columns, isPicked: (field: string) => boolean): Columns {
  return Object.fromEntries(Object.entries(columns).filter(([field]) => isPicked(field)))
}

function nameOf(columns: Columns, field: string): string {
  return columns[field]?.name ?? field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function entityOf<Fields>(table: string, columns: Columns): Entity<Fields> {
  const fields = Object.entries(columns).map(([field, column]) => ({ field, column, name: nameOf(columns, field) }))
  const names = fields.map(({ name }) => name)
  const list = names.join(', ')
  const marks = names.map(() => '?').join(', ')
  const select = `SELECT ${list} FROM ${table}`
  const read = (row: unknown, alias?: string): Fields => {
    const held = row as Readonly<Record<string, unknown>>
    const read: Record<string, unknown> = {}
    for (const { field, name, column } of fields) {
      const value = held[alias === undefined ? name : `${alias}_${name}`]
      if (value !== null) read[field] = column.decode(value)
    }
    return read as Fields
  }
  return {
    names: Object.fromEntries(fields.map(({ field, name }) => [field, name])) as Entity<Fields>['names'],
    columns: list,
    marks,
    select,
    insert: `INSERT INTO ${table} (${list}) VALUES (${marks})`,
    assignments: names.map((name) => `${name} = ?`).join(', '),
    columnsOf: (alias) => names.map((name) => `${alias}.${name} AS ${alias}_${name}`).join(', '),
    values(entity) {
      const held = entity as Readonly<Record<string, unknown>>
      return fields.map(({ field, column }) => column.encode(held[field]))
    },
    read,
    *find(condition, ...values) {
      const row = yield* get(`${select} ${condition}`, ...values)
      return row ? read(row) : undefined
    },
    *list(condition, ...values) {
      return (yield* all(`${select} ${condition}`, ...values)).map((row) => read(row))
    },
    *page(order, conditions, limit) {
      return (yield* page({ select, order }, conditions, limit)).map((row) => read(row))
    },
  }
}

function migrationsOf(
  table: string,
  since: number,
  columns: Columns,
  { key, unique, indexes = {} }: TableOptions<string>,
): Migrations {
  const steps = new Map<number, { sqlite: string; postgres: string }>()
  const addStep = (version: number, write: (dialect: 'sqlite' | 'postgres') => string) => {
    const { sqlite, postgres } = steps.get(version) ?? { sqlite: '\n', postgres: '\n' }
    steps.set(version, { sqlite: `${sqlite}${write('sqlite')}\n`, postgres: `${postgres}${write('postgres')}\n` })
  }
  const listOf = (fields: readonly string[]) => fields.map((field) => nameOf(columns, field)).join(', ')
  const [first, later] = [[] as string[], [] as string[]]
  for (const field of Object.keys(columns)) ((columns[field]!.since ?? since) === since ? first : later).push(field)
  const constraints = [
    ...(key ? [`PRIMARY KEY (${listOf(key)})`] : []),
    ...(unique ? [`UNIQUE (${listOf(unique)})`] : []),
  ]
  addStep(since, (dialect) => {
    const lines = [...first.map((field) => declarationOf(columns, field, dialect)), ...constraints]
    return `CREATE TABLE ${table} (\n  ${lines.join(',\n  ')}\n);`
  })
  for (const field of later)
    addStep(
      columns[field]!.since!,
      (dialect) => `ALTER TABLE ${table} ADD COLUMN ${declarationOf(columns, field, dialect)};`,
    )
  for (const [suffix, index] of Object.entries(indexes)) {
    const { on, unique: isUnique, since: added = since } = 'on' in index ? index : { on: index }
    const create = isUnique ? 'CREATE UNIQUE INDEX' : 'CREATE INDEX'
    addStep(added, () => `${create} ${table}_${suffix} ON ${table} (${listOf(on)});`)
  }
  return Object.fromEntries(steps)
}

function declarationOf(columns: Columns, field: string, dialect: 'sqlite' | 'postgres'): string {
  const { type, inPostgres = type, isOptional, key, unique, initial } = columns[field]!
  const words = [nameOf(columns, field), dialect === 'sqlite' ? type : inPostgres]
  if (key) words.push('PRIMARY KEY')
  else if (!isOptional) words.push('NOT NULL')
  if (unique) words.push('UNIQUE')
  if (initial !== undefined) words.push(`DEFAULT ${typeof initial === 'string' ? `'${initial}'` : initial}`)
  return words.join(' ')
}
