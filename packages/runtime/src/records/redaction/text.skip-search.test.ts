import fc from 'fast-check'
import { expect, it } from 'vitest'
import { SkipSearch } from './text.ts'

it('finds a word wherever it stands, and nothing else', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 2, maxLength: 6 })
  fc.assert(
    fc.property(
      fc.array(word, { minLength: 1, maxLength: 4 }),
      fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'x'), maxLength: 40 }),
      (words, text) => {
        expect(new SkipSearch(words).isIn(text)).toBe(words.some((each) => text.includes(each)))
      },
    ),
    { numRuns: 500 },
  )
})

it('finds words of any length at any place, also those that end alike', () => {
  for (const length of [2, 3, 31, 32, 33, 70]) {
    const word = Array.from({ length }, (_, index) => String.fromCharCode(33 + index)).join('')
    const search = new SkipSearch([word, `zz${word}`])
    for (let offset = 0; offset < 80; offset++) {
      const [before, after] = ['-'.repeat(offset), '-'.repeat(80 - offset)]
      expect(search.isIn(`${before}${word}`)).toBe(true)
      expect(search.isIn(`${before}${word}${after}`)).toBe(true)
      expect(search.isIn(`${before}${word.slice(0, -1)}`)).toBe(false)
      expect(search.isIn(`${before}${word.slice(1)}${after}`)).toBe(false)
    }
  }
  expect(new SkipSearch(['ab']).isIn('ab')).toBe(true)
  expect(new SkipSearch(['ab']).isIn('')).toBe(false)
})
