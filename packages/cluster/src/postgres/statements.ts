/** A statement as PostgreSQL takes it. */
export interface Statement {
  /** With `$1`, `$2` … for the placeholders. */
  readonly text: string
  /** The name under which it is prepared; absent if it is not. */
  readonly name?: string
  /** Whether it changes nothing, so that it can be executed again. */
  readonly isRead: boolean
}

/** More texts than these are not kept: statements with lists of any length would fill the memory of the server. */
const MAX_KEPT = 500

/** The statements of a driver, translated at their first use. */
export class Statements {
  readonly #isPrepared: boolean
  readonly #known = new Map<string, Statement>()

  constructor(isPrepared: boolean) {
    this.#isPrepared = isPrepared
  }

  of(sql: string): Statement {
    const known = this.#known.get(sql)
    if (known) return known
    const statement = { text: numberPlaceholders(sql), isRead: isRead(sql) }
    if (this.#known.size >= MAX_KEPT) return statement
    const kept = this.#isPrepared ? { ...statement, name: `th${this.#known.size}` } : statement
    this.#known.set(sql, kept)
    return kept
  }
}

/** Replaces each `?` by `$1`, `$2` …, except in texts and quoted names. */
function numberPlaceholders(sql: string): string {
  let count = 0
  return sql.replaceAll(/'[^']*'|"[^"]*"|\?/g, (found) => (found === '?' ? `$${++count}` : found))
}

/** Whether a statement may be repeated after its connection was lost. */
function isRead(sql: string): boolean {
  return /^\s*SELECT\b/i.test(sql) && !/\bFOR\s+(NO\s+KEY\s+)?UPDATE\b/i.test(sql)
}

/** Names share this many locks, because the server has room for a few thousand. Two names with one lock only wait longer. */
const LOCKS = 1_024

/** Takes locks until the end of the transaction, always in the same order. */
export function lockStatement(schema: string, names: readonly string[]): string {
  const space = hash(schema)
  const keys = [...new Set(names.map((name) => (hash(name) >>> 0) % LOCKS))].sort((a, b) => a - b)
  return `SELECT ${keys.map((key) => `pg_advisory_xact_lock(${space}, ${key})`).join(', ')}`
}

/** FNV-1a: 32 bits with sign. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  return value | 0
}
