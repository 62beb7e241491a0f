import { createHash, type Hash } from 'node:crypto'
import { ToolError } from '@tool-hub/core'
import { perform, type Queries, type SqlValue, type StoreOfFeature } from '@tool-hub/core/sql'
import { openMemoryDatabase } from './sqlite/database.ts'
import { type FeatureTables, storeTables } from './store-tables.ts'

/** A database to copy from or to: its tables have the current version. */
export interface CopyPlace {
  /** Where it is, for messages: without a password. */
  readonly name: string
  /** Reads the database as it is at one moment. */
  read<T>(work: (queries: Queries) => Promise<T>): Promise<T>
  /** Writes all of the work or nothing, while nobody else writes. */
  write<T>(work: (queries: Queries) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** Options of `copyRows`. */
export interface StoreCopyOptions {
  /** Called after every page of rows. */
  readonly onProgress?: (progress: { readonly table: string; readonly rows: number; readonly total: number }) => void
  /** Ends the copy; the target stays as it was. */
  readonly signal?: AbortSignal
}

/** What was copied. */
export interface CopyReport {
  /** The tables that have rows, with how many. */
  readonly tables: Readonly<Record<string, number>>
  /** All rows together. */
  readonly rows: number
  /** SHA-256 over all rows, the same in both databases. */
  readonly checksum: string
}

/** A table as both databases have it. */
interface CopiedTable {
  readonly name: string
  readonly columns: readonly string[]
  /** Columns that identify and order its rows. */
  readonly key: readonly string[]
}

const FIRST_PAGE = 20
const MAX_PAGE = 1_000
const PAGE_BYTES = 4_000_000
/** So many rows are inserted by one statement. */
const ROWS_PER_INSERT = 20

/**
 * Copies all rows of a store to an empty one, in one transaction of the target and as they are at one moment of the source,
 * and compares both afterwards. Indexes for searches are built anew.
 */
export async function copyRows(
  source: CopyPlace,
  target: CopyPlace,
  { features, ...options }: StoreCopyOptions & FeatureTables,
): Promise<CopyReport> {
  const tables = copiedTables(features)
  return target.write((to) =>
    source.read(async (from) => {
      await assertEmpty(to, tables, target.name)
      await to.run('DELETE FROM counters', [])
      const copied = new TableHashes()
      for (const table of tables) await copyTable(table, { from, to, copied, ...options })
      await rebuildIndexes(to, features)
      const written = new TableHashes()
      for (const table of tables)
        for await (const rows of pagesOf(to, table, options.signal)) written.add(table.name, rows)
      if (written.checksum() !== copied.checksum()) throw differs(source, target, copied, written)
      return { tables: copied.counts(), rows: copied.rows, checksum: copied.checksum() }
    }),
  )
}

/** The tables of a store, in order of their names; those that follow from others are not among them. */
export function copiedTables(features: readonly StoreOfFeature[]): CopiedTable[] {
  const derived = new Set(features.flatMap(({ derived }) => derived?.tables ?? []))
  const database = openMemoryDatabase(storeTables(features))
  try {
    const found = database.prepare(`SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name`).all() as {
      readonly name: string
      readonly sql: string
    }[]
    const virtual = found.filter(({ sql }) => sql.startsWith('CREATE VIRTUAL')).map(({ name }) => name)
    const isDerived = (name: string) =>
      derived.has(name) || virtual.some((table) => name === table || name.startsWith(`${table}_`))
    return found
      .filter(({ name }) => !isDerived(name))
      .map(({ name }) => {
        const columns = database.prepare(`SELECT name, pk FROM pragma_table_info(?)`).all(name) as Column[]
        return toTable(name, columns)
      })
  } finally {
    database.close()
  }
}

interface Column {
  readonly name: string
  /** Position in the primary key; 0 if it is not part of it. */
  readonly pk: number
}

function toTable(name: string, found: readonly Column[]): CopiedTable {
  const key = found.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk)
  const columns = found.map((column) => column.name)
  // The numbers of calls are only for the search of SQLite.
  if (name === 'calls') return { name, columns: columns.filter((column) => column !== 'number'), key: ['call_id'] }
  return { name, columns, key: key.map((column) => column.name) }
}

type Row = Readonly<Record<string, SqlValue>>

async function* pagesOf(queries: Queries, table: CopiedTable, signal?: AbortSignal): AsyncGenerator<readonly Row[]> {
  const { name, columns, key } = table
  const select = `SELECT ${columns.join(', ')} FROM ${name}`
  const order = `ORDER BY ${key.join(', ')} LIMIT ?`
  const next = `${select} WHERE (${key.join(', ')}) > (${key.map(() => '?').join(', ')}) ${order}`
  let size = FIRST_PAGE
  let last: Row | undefined
  for (;;) {
    signal?.throwIfAborted()
    const after = last ? key.map((column) => last![column]!) : []
    const rows = (await queries.all(last ? next : `${select} ${order}`, [...after, size])) as readonly Row[]
    if (rows.length > 0) yield rows
    if (rows.length < size) return
    last = rows.at(-1)
    const bytes = rows.reduce((sum, row) => sum + sizeOf(row), 0)
    size = Math.max(1, Math.min(MAX_PAGE, Math.floor(PAGE_BYTES / (bytes / rows.length + 1))))
  }
}

function sizeOf(row: Row): number {
  return Object.values(row).reduce<number>((sum, value) => {
    return sum + (typeof value === 'string' || value instanceof Uint8Array ? value.length : 8)
  }, 0)
}

interface Copying extends StoreCopyOptions {
  readonly from: Queries
  readonly to: Queries
  readonly copied: TableHashes
}

async function copyTable(table: CopiedTable, { from, to, copied, onProgress, signal }: Copying): Promise<void> {
  const { name, columns } = table
  const { n: total } = (await from.get(`SELECT COUNT(*) AS n FROM ${name}`, [])) as { readonly n: number }
  if (total === 0) return
  const marks = `(${columns.map(() => '?').join(', ')})`
  const insert = (count: number) =>
    `INSERT INTO ${name} (${columns.join(', ')}) VALUES ${Array.from({ length: count }, () => marks).join(', ')}`
  let rows = 0
  for await (const page of pagesOf(from, table, signal)) {
    copied.add(name, page)
    for (let first = 0; first < page.length; ) {
      const count = page.length - first >= ROWS_PER_INSERT ? ROWS_PER_INSERT : 1
      const values = page.slice(first, first + count).flatMap((row) => columns.map((column) => row[column]!))
      await to.run(insert(count), values)
      first += count
    }
    rows += page.length
    onProgress?.({ table: name, rows, total })
  }
}

/** Counters are in every store; they are replaced. */
async function assertEmpty(queries: Queries, tables: readonly CopiedTable[], name: string): Promise<void> {
  for (const table of tables) {
    if (table.name === 'counters' || !(await queries.get(`SELECT 1 AS found FROM ${table.name} LIMIT 1`, []))) continue
    throw new ToolError('CONFLICT', `The store ${name} is not empty: it has rows in ${table.name}.`, {
      hint: 'Copy to a new folder, database or schema.',
    })
  }
}

async function rebuildIndexes(queries: Queries, features: readonly StoreOfFeature[]): Promise<void> {
  if (queries.dialect === 'sqlite')
    await queries.run('INSERT INTO call_search (rowid, text) SELECT number, searched FROM calls', [])
  for (const { derived } of features) if (derived) await perform(queries, derived.rebuild())
}

/** Hashes the rows of tables, in their order. */
class TableHashes {
  readonly #tables = new Map<string, { readonly hash: Hash; rows: number }>()

  add(table: string, rows: readonly Row[]): void {
    const held = this.#tables.get(table) ?? { hash: createHash('sha256'), rows: 0 }
    this.#tables.set(table, held)
    for (const row of rows)
      held.hash.update(`${JSON.stringify(Object.entries(row).map(([, value]) => plain(value)))}\n`)
    held.rows += rows.length
  }

  get rows(): number {
    return Array.from(this.#tables.values(), ({ rows }) => rows).reduce((sum, rows) => sum + rows, 0)
  }

  counts(): Record<string, number> {
    return Object.fromEntries(Array.from(this.#tables, ([name, { rows }]) => [name, rows]))
  }

  hashOf(table: string): string {
    return this.#tables.get(table)?.hash.copy().digest('hex') ?? ''
  }

  checksum(): string {
    const whole = createHash('sha256')
    for (const name of [...this.#tables.keys()].sort()) whole.update(`${name} ${this.hashOf(name)}\n`)
    return whole.digest('hex')
  }
}

function plain(value: SqlValue): unknown {
  return value instanceof Uint8Array ? { base64: Buffer.from(value).toString('base64') } : value
}

function differs(source: CopyPlace, target: CopyPlace, copied: TableHashes, written: TableHashes): ToolError {
  const counts = { ...copied.counts(), ...written.counts() }
  const table = Object.keys(counts).find((name) => copied.hashOf(name) !== written.hashOf(name))
  return new ToolError(
    'CONFLICT',
    `The copy of ${source.name} at ${target.name} differs in ${table}: ${copied.counts()[table!] ?? 0} rows were read, and ${written.counts()[table!] ?? 0} written, or their contents differ.`,
    { hint: 'Nothing was changed. Check both stores with tool-hub store check, then copy again.' },
  )
}
