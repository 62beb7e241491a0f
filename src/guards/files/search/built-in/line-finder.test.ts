import { describe, expect, it } from 'vitest'
import type { SearchJob } from '../search-job.ts'
import { createFinder } from './line-finder.ts'
import { spellUnicodeClasses } from './unicode-classes.ts'

const finder = (pattern: string, isRegex = false, ignoreCase = false) =>
  createFinder({ pattern, isRegex, ignoreCase } as SearchJob)

describe('a finder', () => {
  it.each([
    ['plain text', 'b.', false, false, 'abxab.', 4],
    ['plain text that is not there', 'b.', false, false, 'abx', -1],
    ['plain text in another case', 'B.', false, false, 'ab.', -1],
    ['plain text whatever the case', 'B.', false, true, 'abxab.', 4],
    ['an expression', 'b.', true, false, 'abx', 1],
    ['an expression in another case', 'B.', true, false, 'abx', -1],
    ['an expression whatever the case', 'B.', true, true, 'abx', 1],
    ['an expression that is not there', 'c+', true, false, 'abx', -1],
    ['an expression at the beginning of the line', '^a', true, false, 'aa', 0],
  ])('tells where it first finds %s', (_, pattern, isRegex, ignoreCase, line, at) => {
    expect(finder(pattern, isRegex, ignoreCase).inLine(line)).toBe(at)
  })

  it('gives every match in a text, with `^` and `$` at each line', () => {
    expect([...finder('^b+$', true).inText('bb\nab\nb\n')]).toEqual([
      { start: 0, end: 2 },
      { start: 6, end: 7 },
    ])
    expect([...finder('B', false, true).inText('abB')]).toEqual([
      { start: 1, end: 2 },
      { start: 2, end: 3 },
    ])
  })

  it('rules a text out only for plain text that is not in it', () => {
    expect(finder('ab').mayBeIn('xabx')).toBe(true)
    expect(finder('ab').mayBeIn('xaxb')).toBe(false)
    expect(finder('AB', false, true).mayBeIn('xabx')).toBe(true)
    expect(finder('a.', true).mayBeIn('xabx')).toBe(true)
  })

  it('refuses an expression that cannot be used', () => {
    expect(() => finder('(a', true)).toThrow('missing closing )')
    expect(() => finder('(a')).not.toThrow()
  })
})

const WORD = '\\p{L}\\p{M}\\p{Nd}\\p{Pc}'
const SPACE = '\\t-\\r \\x{85}\\p{Z}'

describe('the short classes', () => {
  it.each([
    ['\\w', `[${WORD}]`],
    ['\\W', `[^${WORD}]`],
    ['\\d', '[\\p{Nd}]'],
    ['\\D', '[^\\p{Nd}]'],
    ['\\s', `[${SPACE}]`],
    ['\\S', `[^${SPACE}]`],
    ['[\\w-]', `[${WORD}-]`],
    ['[^\\d\\s]', `[^\\p{Nd}${SPACE}]`],
    ['[\\D]', '[\\P{Nd}]'],
    ['[\\W\\S]', '[\\W\\S]'],
    ['[]\\d]', '[]\\p{Nd}]'],
    ['[^]\\d]', '[^]\\p{Nd}]'],
    ['[a]\\d[b]', '[a][\\p{Nd}][b]'],
    ['[\\]\\d]\\d', '[\\]\\p{Nd}][\\p{Nd}]'],
    ['\\\\d', '\\\\d'],
    ['\\n\\.\\b', '\\n\\.\\b'],
    ['wds', 'wds'],
  ])('%s mean beyond ASCII %s', (pattern, expected) => {
    expect(spellUnicodeClasses(pattern)).toBe(expected)
  })

  it.each([
    ['\\w', 'é漢_٣', '-. '],
    ['\\d', '7٣', 'é_'],
    ['\\s', ' \t\u3000\u00a0', 'a_'],
  ])('%s matches what it matches in ripgrep', (pattern, all, none) => {
    const { inLine } = finder(pattern, true)
    expect([...all].map((character) => inLine(character))).toEqual([...all].map(() => 0))
    expect([...none].map((character) => inLine(character))).toEqual([...none].map(() => -1))
  })
})
