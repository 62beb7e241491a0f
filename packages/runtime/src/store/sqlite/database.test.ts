import { expect, it } from 'vitest'
import { findSqlite } from './database.ts'

/** What Node has: `fts5` says whether with full-text search, `defensive` whether with protection against damage. */
function sqliteOfNode({ fts5, defensive }: { readonly fts5: boolean; readonly defensive: boolean }) {
  class DatabaseSync {
    prepare = () => ({ get: () => ({ used: fts5 ? 1 : 0 }) })
    close() {}
  }
  return { DatabaseSync: defensive ? withDefensive(DatabaseSync) : DatabaseSync }
}

function withDefensive<T extends new () => object>(parent: T) {
  Object.assign(parent.prototype, { enableDefensive() {} })
  return parent
}

const addOn = { DatabaseSync: class {} }

function loader(modules: Readonly<Record<string, unknown>>) {
  return (name: string) => {
    if (modules[name]) return modules[name]
    throw new Error(`No ${name} here\nRequire stack: …`)
  }
}

it('takes what Node has where it has everything', () => {
  const own = sqliteOfNode({ fts5: true, defensive: true })
  expect(findSqlite(loader({ 'node:sqlite': own, '@photostructure/sqlite': addOn }))).toBe(own)
})

it('takes the add-on where Node has none, or less', () => {
  const older = sqliteOfNode({ fts5: true, defensive: false })
  expect(findSqlite(loader({ '@photostructure/sqlite': addOn }))).toBe(addOn)
  expect(findSqlite(loader({ 'node:sqlite': older, '@photostructure/sqlite': addOn }))).toBe(addOn)
})

it('takes less where there is no add-on, if the store can be searched', () => {
  const older = sqliteOfNode({ fts5: true, defensive: false })
  expect(findSqlite(loader({ 'node:sqlite': older }))).toBe(older)
})

it.each([{}, { 'node:sqlite': sqliteOfNode({ fts5: false, defensive: false }) }])(
  'says why and what to do where neither can be used: %o',
  (modules) => {
    expect(() => findSqlite(loader(modules))).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: 'SQLite cannot be loaded: No @photostructure/sqlite here',
        fix: { hint: expect.stringMatching(/Node 22\.16.*npm install @photostructure\/sqlite/) },
      }),
    )
  },
)
