import { describe, expect, it } from 'vitest'
import { collapseLines, lastDrawn, plainText, stripCodes, unfinishedCode } from './plain-text.ts'

describe('plain text of a terminal', () => {
  it.each([
    ['colours', '\u001b[1;31mred\u001b[0m', 'red'],
    ['24-bit colours and cursor moves', '\u001b[38;2;1;2;3mx\u001b[2K\u001b[1A\u001b[?25ly', 'xy'],
    ['a title with blanks', '\u001b]0;my long title\u0007text', 'text'],
    ['a link, ended by ST', '\u001b]8;;http://a/b\u001b\\name\u001b]8;;\u001b\\', 'name'],
    ['device control strings', 'a\u001bP1$r0m\u001b\\b', 'ab'],
    ['a charset and a reset', '\u001b(B\u001bc\u001b=x', 'x'],
    ['C1 and the bell', '\u009b31mred\u0007', 'red'],
    ['a string that never ends, up to its line', '\u001b]0;open\nnext', '\nnext'],
    ['an escape at the very end', 'x\u001b', 'x'],
    ['Windows line ends', 'a\r\nb\r\r\nc', 'a\nb\nc'],
    ['a progress bar', ' 1%\r50%\r100%\ndone\n', '100%\ndone\n'],
    ['a progress bar that returns last', '1%\r2%\r', '2%'],
    ['nothing at all', 'täglich 😀\n', 'täglich 😀\n'],
  ])('is without %s', (_, raw, plain) => {
    expect(plainText(raw)).toBe(plain)
  })

  it('holds a code back until it is whole, but not for ever', () => {
    expect(unfinishedCode('x\u001b[38;5')).toBe(6)
    expect(unfinishedCode('x\u001b]0;title')).toBe(9)
    expect(unfinishedCode('x\u001b[31m')).toBe(0)
    expect(unfinishedCode(`\u001b]${'x'.repeat(10_000)}`)).toBe(0)
  })

  it('takes a hostile text in linear time', () => {
    const text = '\u001b['.repeat(500_000) + '\u001b]'.repeat(500_000) + '\r'.repeat(500_000)
    expect(plainText(text)).toBe('')
  })
})

describe('a code whose rest has not come', () => {
  it.each([
    ['a lone escape', 'x\u001b', 1],
    ['CSI', 'x\u001b[', 2],
    ['CSI with parameters and intermediates', 'x\u001b[1;2 ', 6],
    ['a title', 'x\u001b]0;a b', 7],
    ['a charset', 'x\u001b(', 2],
    ['a finished CSI', 'x\u001b[1m', 0],
    ['a finished title', 'x\u001b]0;a\u0007', 0],
    ['a title that its line ended', 'x\u001b]0;a\nb', 0],
    ['a finished short code', 'x\u001bc', 0],
    ['text', 'x[1', 0],
    ['text after a code', '\u001b[1mx', 0],
  ])('is %s', (_, text, length) => {
    expect(unfinishedCode(text)).toBe(length)
  })

  it('is held up to 4096 characters', () => {
    expect(unfinishedCode(`a\u001b]${'x'.repeat(4094)}`)).toBe(4096)
    expect(unfinishedCode(`a\u001b]${'x'.repeat(4095)}`)).toBe(0)
  })
})

describe('a line that is drawn over', () => {
  it.each([
    ['a', 'a'],
    ['a\rb', 'b'],
    ['a\rb\r', 'b'],
    ['a\r\r', 'a'],
    ['\ra', 'a'],
    ['\r\r', ''],
    ['a\rbc\rd\r\r', 'd'],
  ])('%j ends as %j', (line, expected) => {
    expect(lastDrawn(line)).toBe(expected)
    expect(collapseLines(`${line}\nx`)).toBe(`${expected}\nx`)
  })

  it('loses the bell, backspace and shifts only', () => {
    expect(stripCodes('a\u0007\u0008\u000e\u000fb\tc\rd\n')).toBe('ab\tc\rd\n')
  })
})
