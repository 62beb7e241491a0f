import { describe, expect, it } from 'vitest'
import { afterSeparator, beginningOfShape, certainUpTo, endOfWord } from './redact-stream.ts'

describe('where a text is certain', () => {
  it.each<[string, number, number | undefined]>([
    ['ab cd', 10, 3],
    ['ab ', 10, 3],
    ['', 10, 0],
    // A word that is as long as it may be, and one that is longer.
    ['abcd', 4, 0],
    ['abcde', 4, undefined],
    [' abcd', 4, 1],
    ['x abcde', 4, undefined],
    // What stands behind these belongs to them.
    ['Bearer abc', 100, 0],
    ['x Bearer  abc', 100, 2],
    ['x bEARER\tabc', 100, 2],
    ['x Basic\nabc', 100, 2],
    ['xBearer abc', 100, 0],
    ['Bearer Basic abc', 100, 0],
    [`Bearer${' '.repeat(8)}a`, 100, 0],
    [`Bearer${' '.repeat(9)}a`, 100, 15],
    ['x Bearer abc', 4, undefined],
  ])('%j with words of up to %d is certain up to %s', (text, longest, expected) => {
    expect(certainUpTo(text, longest)).toBe(expected)
  })

  it.each<[string, number, number]>([
    ['ab cd', 5, 3],
    ['ab cd', 4, 3],
    ['ab cd', 3, 3],
    ['ab', 2, 0],
    ['"ab', 3, 1],
    ["'ab", 3, 1],
    ['<ab', 3, 1],
    ['>ab', 3, 1],
    ['\tab', 3, 1],
    ['\rab', 3, 1],
    ['\x08ab', 3, 0],
    ['\x0eab', 3, 0],
    ['\xa0ab', 3, 0],
  ])('the word of %j at %d begins at %d', (text, index, expected) => {
    expect(afterSeparator(text, index)).toBe(expected)
  })
})

describe('where a secret seems to begin', () => {
  it.each<[string, number, number | undefined]>([
    ['plain', 0, undefined],
    ['x ghp_abc', 0, 2],
    ['ghp_ab cd', 0, undefined],
    ['ghp_abc ghp_def', 8, 8],
    ['ghp_abc.ghp_def', 0, 0],
    ['x://a:b', 0, 1],
    ['x://a:b', 2, undefined],
    ['?token=abc', 0, 0],
    ['?token=abc', 1, undefined],
    ['&Api-Key=', 0, 0],
    ['x Bearer abc', 0, 2],
    ['x Basic ', 0, 2],
    ['x Bearer abc d', 0, undefined],
    ['Bearer x://a:b', 0, 8],
  ])('%j from %d on begins one at %s', (text, least, expected) => {
    expect(beginningOfShape(text, least)).toBe(expected)
  })

  it.each<[string, number]>([
    ['abc:', 3],
    ['abc:/', 3],
    ['hello gith', 6],
    ['hello ', 6],
    ['', 0],
    ['a'.repeat(21), 0],
    ['a'.repeat(30), 8],
    ['a/b-c.d', 2],
  ])('the end of %j that could be one is at %d', (text, expected) => {
    expect(endOfWord(text)).toBe(expected)
  })
})
