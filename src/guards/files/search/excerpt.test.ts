import fc from 'fast-check'
import { expect, it } from 'vitest'
import { excerpt } from './excerpt.ts'

it('leaves a line of usual length as it is', () => {
  expect(excerpt('a'.repeat(500), 400)).toBe('a'.repeat(500))
})

it('shows what is around the match, and that something is left out', () => {
  const line = `${'a'.repeat(1000)}needle${'b'.repeat(1000)}`
  expect(excerpt(line, 1000)).toBe(`…${'a'.repeat(150)}needle${'b'.repeat(344)}…`)
  expect(excerpt(line, 0)).toBe(`${'a'.repeat(500)}…`)
  expect(excerpt(line, 2000)).toBe(`…${'b'.repeat(500)}`)
})

it('cuts no character in two, and keeps to its length', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', '😀'), minLength: 400, maxLength: 900 }),
      fc.nat(2000),
      (line, at) => {
        const text = excerpt(line, at)
        expect(text).not.toMatch(/\p{Surrogate}/u)
        expect(text.length).toBeLessThanOrEqual(503)
      },
    ),
  )
})

it.each([
  ['a line of one more', 'a'.repeat(501), 0, `${'a'.repeat(500)}…`],
  ['the end of such a line', 'a'.repeat(501), 501, `…${'a'.repeat(500)}`],
  [
    'a match that is just too near',
    `${'a'.repeat(150)}x${'b'.repeat(600)}`,
    150,
    `${'a'.repeat(150)}x${'b'.repeat(349)}…`,
  ],
  [
    'a match that is one further',
    `c${'a'.repeat(150)}x${'b'.repeat(600)}`,
    151,
    `…${'a'.repeat(150)}x${'b'.repeat(349)}…`,
  ],
  ['a pair at the end', `${'a'.repeat(499)}😀${'b'.repeat(100)}`, 0, `${'a'.repeat(499)}😀…`],
  ['a pair before the end', `${'a'.repeat(498)}😀${'b'.repeat(100)}`, 0, `${'a'.repeat(498)}😀…`],
  [
    'a pair at the beginning',
    `😀${'a'.repeat(149)}x${'b'.repeat(600)}`,
    151,
    `…${'a'.repeat(149)}x${'b'.repeat(350)}…`,
  ],
  ['the last pair of all', `${'a'.repeat(499)}😀`, 501, `…${'a'.repeat(498)}😀`],
])('cuts %s', (_, line, at, expected) => {
  expect(excerpt(line, at)).toBe(expected)
})
