import { ToolError } from '@tool-hub/core/errors'
import { describe, expect, it } from 'vitest'
import { damaged, isDamage, replaced, toStoreError } from './database.ts'

const PATH = '/srv/data/store.db'
const sqliteError = (message: string, errcode?: number) =>
  Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', ...(errcode !== undefined && { errcode }) })

const LOCKED = ['CONFLICT', 'is locked by another process.', 'Try again in a few seconds', true] as const
const FULL = ['RECORDS_UNAVAILABLE', 'cannot grow: the disk is full.', 'Free space on the disk', true] as const
const UNWRITABLE = ['RECORDS_UNAVAILABLE', 'cannot be written: ', 'Look at the disk of that folder', true] as const
const DAMAGED = ['CONFIG_INVALID', 'is damaged, or no store: ', 'put a backup in its place', false] as const
const UNOPENED = ['CONFIG_INVALID', 'cannot be opened: ', 'how many files are open', false] as const

describe('an error of SQLite', () => {
  it.each([
    [5, 'database is locked', LOCKED],
    [6, 'database table is locked', LOCKED],
    [8, 'attempt to write a readonly database', UNWRITABLE],
    [10, 'disk I/O error', UNWRITABLE],
    [11, 'database disk image is malformed', DAMAGED],
    [13, 'database or disk is full', FULL],
    [14, 'unable to open database file', UNOPENED],
    [26, 'file is not a database', DAMAGED],
  ] as const)(
    '%i says what to do, by its number and by its words',
    (errcode, words, [code, message, hint, retryable]) => {
      const known = [sqliteError('whatever', errcode), sqliteError('whatever', errcode + 0x300), sqliteError(words)]
      for (const error of known) {
        const told = toStoreError(error, PATH)
        expect(told).toBeInstanceOf(ToolError)
        expect(told).toMatchObject({
          ...{ code, retryable, cause: error, details: { path: PATH, sqlite: error.message } },
          message: expect.stringContaining(message),
          fix: { hint: expect.stringContaining(hint) },
        })
      }
    },
  )

  it('a folder that may not be used is reported as well', () => {
    const [code, message, hint, retryable] = UNOPENED
    expect(toStoreError(sqliteError('access permission denied', 3), PATH)).toMatchObject({
      ...{ code, retryable },
      message: expect.stringContaining(`${message}access permission denied.`),
      fix: { hint: expect.stringContaining(hint) },
    })
  })

  it.each([
    ['of another kind', sqliteError('no such table: x', 1)],
    ['in other words', sqliteError('something else')],
    ['of a file', Object.assign(new Error('database is locked'), { code: 'ENOENT', errcode: 5 })],
    ['without a code', new Error('database is locked')],
    ['that is not an error', { code: 'ERR_SQLITE_ERROR', errcode: 5 }],
    ['that is nothing', undefined],
  ])('%s comes back as it is', (_, error) => {
    expect(toStoreError(error, PATH)).toBe(error)
  })

  it.each([
    [11, true],
    [26, true],
    [19, false],
    [2067, false],
    [5, false],
    [27, false],
  ])('%i: damage %s', (errcode, damage) => {
    expect(isDamage(sqliteError('x', errcode))).toBe(damage)
  })
})

it('names the file that is damaged or replaced, and what to do', () => {
  expect(damaged(PATH, 'row 3 missing')).toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringMatching(/store\.db is damaged, or no store: row 3 missing\.$/),
    details: { path: PATH, sqlite: 'row 3 missing' },
  })
  expect(replaced(PATH)).toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('what is written now is lost at the next start'),
    fix: { hint: expect.stringContaining('put the newest copy in its place') },
    details: { path: PATH, store: 'replaced' },
  })
})
