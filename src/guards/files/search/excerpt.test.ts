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
