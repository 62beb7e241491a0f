import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

/** What SQLite has and PostgreSQL has not, or means another thing by. */
const SQLITE_ONLY =
  /\b(PRAGMA|WITHOUT\s+ROWID|AUTOINCREMENT|ROWID|GLOB|REGEXP|MATCH|REPLACE|INSERT\s+OR|UPDATE\s+OR|IFNULL|IIF|STRICT|VIRTUAL|FTS\d?|JSON\w*|STRFTIME|JULIANDAY|UNIXEPOCH|DATETIME|PRINTF|TYPEOF|HEX|RANDOMBLOB|TOTAL|CHANGES|LAST_INSERT_ROWID|SQLITE_\w+|COLLATE|INDEXED|ATTACH|VACUUM|BLOB|NUMERIC|REAL|INT|NOCASE)\b|\?\d|[@:$][a-z]\w*|==|"/i

/** Full-text search and vectors are different in every database. */
const SQLITE_FILES = ['notes-index.ts', 'call-search.ts']
const FILES = [
  ...readdirSync(join(import.meta.dirname, '../sql')).map((name) => join('../sql', name)),
  '../store-tables.ts',
  'durability.ts',
  '../sqlite.ts',
  '../in-process.ts',
]

it('keeps the SQL within what SQLite and PostgreSQL share', () => {
  const statements = FILES.filter(
    (name) => !name.endsWith('.test.ts') && !SQLITE_FILES.some((file) => name.endsWith(file)),
  ).flatMap((name) => statementsOf(join(import.meta.dirname, name)))
  expect(statements.length).toBeGreaterThan(60)
  expect(statements.filter((sql) => SQLITE_ONLY.test(sql))).toEqual([])
})

it('says so when a statement is only SQLite', () => {
  for (const sql of ['INSERT OR REPLACE INTO t VALUES (1)', 'SELECT ifnull(a, 1) FROM t', 'PRAGMA user_version'])
    expect(SQLITE_ONLY.test(sql)).toBe(true)
})

/** Literals that are SQL, each statement for itself; names of columns in `${…}` are literals of their own. */
function statementsOf(path: string): string[] {
  const literals = readFileSync(path, 'utf8').match(/'[^'\n]*'|`[^`]*`/g) ?? []
  return literals
    .map((literal) => literal.slice(1, -1).replaceAll(/\$\{[^}]+\}/g, ' '))
    .flatMap((text) => text.split(';'))
    .map((sql) => sql.trim())
    .filter(
      (sql) =>
        /^(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|WITH|PRAGMA)\s/.test(sql) || / (LIKE|IN|=|<) /.test(sql),
    )
}
