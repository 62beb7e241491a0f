import { expect, it } from 'vitest'
import { findSqlite } from './database.ts'

it('takes what Node has where the package does not load', () => {
  const own = { DatabaseSync: class {} }
  const load = (name: string) => {
    if (name === 'node:sqlite') return own
    throw new Error('wrong platform')
  }
  expect(findSqlite(load)).toBe(own)
})

it('says why and what to do where neither loads', () => {
  const load = (name: string) => {
    throw new Error(`No ${name} here\nRequire stack: …`)
  }
  expect(() => findSqlite(load)).toThrow(
    expect.objectContaining({
      code: 'CONFIG_INVALID',
      message: 'SQLite cannot be loaded: No @photostructure/sqlite here',
      fix: { hint: expect.stringContaining('Node 22.13') },
    }),
  )
})
