import { relative } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isWithin } from './text.ts'

it.each([
  ['/a', '/a', true],
  ['/a', '/a/b', true],
  ['/a', '/a/..b', true],
  ['/a', '/ab', false],
  ['/a/b', '/a', false],
  ['/a', '/a/../b', false],
  ['/a', '/a/..', false],
  ['/a/', '/a/b', true],
  ['/a', '/a/', true],
  ['/', '/', true],
  ['/', '/a', true],
  ['/a', '/', false],
])('%s contains %s: %s', (folder, path, expected) => {
  expect(isWithin(folder, path)).toBe(expected)
})

it('agrees with relative() for every absolute path', () => {
  const path = fc.array(fc.constantFrom('a', 'ab', '.', '..', '', '...', '.a')).map((names) => `/${names.join('/')}`)
  fc.assert(
    fc.property(path, path, (folder, other) => {
      const way = relative(folder, other)
      expect(isWithin(folder, other)).toBe(way !== '..' && !way.startsWith('../'))
    }),
  )
})
