import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { errnoOf } from './text.ts'

it('gives the code of a system error', () => {
  try {
    readFileSync('/there/is/no/such/file')
  } catch (error) {
    expect(errnoOf(error)).toBe('ENOENT')
  }
  expect.assertions(1)
})

it.each([
  new Error('plain'),
  Object.assign(new Error('numeric'), { code: 5 }),
  { code: 'ENOENT' },
  'ENOENT',
  undefined,
])('says UNKNOWN for %j, which is none', (error) => {
  expect(errnoOf(error)).toBe('UNKNOWN')
})
