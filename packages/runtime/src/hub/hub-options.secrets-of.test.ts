import { expect, it } from 'vitest'
import { secretsOf } from './hub-options.ts'

it.each([
  ['on another machine', 'postgres://hub:p%40ss@db.example/hub', ['p%40ss', 'p@ss']],
  ['behind a socket', 'postgres://hub:p%40ss@/hub?host=/run/postgresql', ['p%40ss', 'p@ss']],
  ['without a password', 'postgres://hub@/hub?host=/run/postgresql', []],
])('redacts the password of a database %s', (_, url, passwords) => {
  expect(secretsOf({ database: { url } }).values).toEqual(passwords)
})

it.each(['postgres://hub:s3cret@[', 'postgres://hub:s3cret%@db.example/hub', 'mysql://hub:s3cret@db.example/hub'])(
  'refuses %s without showing it',
  (url) => {
    const refusing = expect(() => secretsOf({ database: { url } }))
    refusing.toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.not.stringContaining('s3cret') }),
    )
  },
)
