import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cleanLine, cleanText, tidyLines } from './clean-text.ts'

describe('cleanText', () => {
  it.each([
    ['zero-width characters', 'pass\u200bword\u2060\ufeff', 'password'],
    ['characters that turn the direction', 'a\u202eb\u2066c\u2069', 'abc'],
    ['controls', 'a\0b\x1b[31mc\x7f\x85', 'ab[31mc'],
    ['letters hidden in tags', 'hi\u{e0069}\u{e0067}', 'hi'],
    ['bytes hidden in variation selectors', 'hi\u{e0101}\u{e0110}\ufe01\ufe02\ufe03', 'hi\ufe01'],
    ['bits hidden in joiners', 'a\u200c\u200d\u200cb\u200dc', 'abc'],
    ['halves of characters', 'a\ud800b', 'ab'],
  ])('takes out %s', (_, text, clean) => {
    expect(cleanText(text)).toBe(clean)
  })

  it('keeps what people write: joined emoji, Persian, accents, tabs and lines', () => {
    const text = 'famille 👨‍👩‍👧 می‌خواهم é\t❤️\nend'
    expect(cleanText(text)).toBe(text)
  })

  it('writes every line end as one', () => {
    expect(cleanText('a\r\nb\rc\n')).toBe('a\nb\nc\n')
  })

  it('is done after one time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const once = cleanText(text)
        expect(cleanText(once)).toBe(once)
      }),
    )
  })
})

describe('cleanLine and tidyLines', () => {
  it('make one line, and paragraphs with one empty line between them', () => {
    expect(cleanLine('  a \n\t b\u200b ')).toBe('a b')
    expect(tidyLines('\n\n a  \n\n\n\nb\n\n')).toBe(' a\n\nb')
    expect(tidyLines('')).toBe('')
  })
})
