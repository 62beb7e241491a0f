import { describe, expect, it } from 'vitest'
import { plainText, unfinishedCode } from './plain-text.ts'

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
