import { describe, expect, it } from 'vitest'
import { fitLine, lineWidth, widthOf, wrapText } from './layout.ts'

const RED = '\u001b[31m'
const PLAIN = '\u001b[39m'

describe('fitLine', () => {
  it('cuts to the width of the terminal, and leaves what fits', () => {
    expect(fitLine('twelve chars', 12)).toBe('twelve chars')
    expect(fitLine('thirteen char', 12)).toBe('thirteen ch…')
  })

  it('takes a terminal that tells no width for one of 80 columns', () => {
    const terminal = (columns: number) => ({ isTTY: true, columns }) as NodeJS.WriteStream
    expect([0, 120].map((columns) => lineWidth(terminal(columns)))).toEqual([80, 120])
  })

  it('cuts nothing in a pipe', () => {
    expect(fitLine('x'.repeat(500), Number.POSITIVE_INFINITY)).toBe('x'.repeat(500))
  })

  it('gives colours no room, and ends them behind a cut', () => {
    expect(fitLine(`${RED}red${PLAIN}`, 3)).toBe(`${RED}red${PLAIN}`)
    expect(fitLine(`${RED}red roses${PLAIN}`, 4)).toBe(`${RED}red${PLAIN}…`)
  })

  it('counts columns, not characters', () => {
    expect(widthOf('日本e\u0301')).toBe(5)
    expect(widthOf(fitLine('日本語日本語', 6))).toBeLessThanOrEqual(6)
  })
})

describe('wrapText', () => {
  it('breaks between words and indents what follows', () => {
    expect(wrapText('  one two three four', 4, 12)).toBe('  one two\n    three\n    four')
  })

  it('keeps a word whole that is longer than a line, so that it can be copied', () => {
    expect(wrapText('see /a/very/long/path here', 2, 10)).toBe('see\n  /a/very/long/path\n  here')
  })

  it('keeps the breaks and the blanks that are there', () => {
    expect(wrapText('a  b\n\n  c', 0, 80)).toBe('a  b\n\n  c')
  })
})
