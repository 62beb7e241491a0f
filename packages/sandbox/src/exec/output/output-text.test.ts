import { describe, expect, it } from 'vitest'
import {
  collapseLines,
  fromWholeLine,
  LastBytes,
  lastDrawn,
  plainText,
  stripCodes,
  unfinishedBytes,
  unfinishedCode,
  upToWholeCharacter,
} from './output-text.ts'

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

describe('whole parts of bytes', () => {
  it('knows how much of a character at the end is there', () => {
    for (const character of ['a', 'ä', '€', '😀']) {
      const bytes = Buffer.from(`x${character}`)
      expect(unfinishedBytes(bytes)).toBe(0)
      for (let cut = 1; cut < bytes.length - 1; cut += 1) {
        expect(unfinishedBytes(bytes.subarray(0, -cut))).toBe(bytes.length - 1 - cut)
      }
    }
  })

  it('takes bytes that are no text for what they are', () => {
    expect(unfinishedBytes(Buffer.from([0x80, 0x80, 0x80, 0x80]))).toBe(0)
    expect(unfinishedBytes(Buffer.from([0xff]))).toBe(0)
    expect(unfinishedBytes(Buffer.from([0xc0]))).toBe(0)
    expect(unfinishedBytes(Buffer.alloc(0))).toBe(0)
  })

  it('cuts at a line, or at a character where a line would cost most of it', () => {
    expect(fromWholeLine(Buffer.from('rest\nwhole line\n')).toString()).toBe('whole line\n')
    expect(fromWholeLine(Buffer.from('€uro'.repeat(9)).subarray(1)).toString()).toBe(`uro${'€uro'.repeat(8)}`)
    expect(fromWholeLine(Buffer.from(`${'x'.repeat(90)}\nlast`)).toString()).toHaveLength(95)
    expect(upToWholeCharacter(Buffer.from('a€'), 3).toString()).toBe('a')
  })
})

describe('the bytes of a character', () => {
  it.each([
    [[0x7f], 0],
    [[0x80], 0],
    [[0xbf], 0],
    [[0xc1], 0],
    [[0xc2], 1],
    [[0xdf], 1],
    [[0xe0], 1],
    [[0xef], 1],
    [[0xf0], 1],
    [[0xf4], 1],
    [[0xf5], 0],
    [[0xdf, 0x80], 0],
    [[0xe0, 0x80], 2],
    [[0xe0, 0x80, 0x80], 0],
    [[0xef, 0xbf], 2],
    [[0xf0, 0x80, 0x80], 3],
    [[0xf4, 0xbf, 0xbf], 3],
    [[0xf0, 0x80, 0x80, 0x80], 0],
    [[0xf5, 0x80], 0],
    [[0xe0, 0xc0], 0],
    [[0x61, 0xc2], 1],
  ])('%j lack a rest after the last %d', (bytes, expected) => {
    expect(unfinishedBytes(Buffer.from(bytes))).toBe(expected)
  })

  it('are cut off whole at a limit', () => {
    const cut = (most: number) => upToWholeCharacter(Buffer.from('aé€'), most).toString()
    expect([0, 1, 2, 3, 4, 5, 6, 7].map(cut)).toEqual(['', 'a', 'a', 'aé', 'aé', 'aé', 'aé€', 'aé€'])
  })

  it('are left out at the beginning where their first is gone, at most three', () => {
    const from = (bytes: readonly number[]) => [...fromWholeLine(Buffer.from(bytes))]
    expect(from([0x80, 0xbf, 0x61])).toEqual([0x61])
    expect(from([0x80, 0x80, 0x80, 0x80])).toEqual([0x80])
    expect(from([0x80])).toEqual([])
    expect(from([0x7f, 0x80])).toEqual([0x7f, 0x80])
    expect(from([0xc0, 0x80])).toEqual([0xc0, 0x80])
  })

  it('are cut at a line that ends in the first half', () => {
    const from = (text: string) => fromWholeLine(Buffer.from(text)).toString()
    expect([from('\nab'), from('a\nbc'), from('ab\nc'), from('a\nb\nc'), from('a\n')]).toEqual([
      ...['ab', 'bc', 'ab\nc', 'b\nc', 'a\n'],
    ])
  })
})

describe('the last bytes', () => {
  it('are the end of all that came, however it was cut', () => {
    const all = Buffer.from(Array.from({ length: 20_000 }, (_, index) => index % 251))
    for (const size of [1, 3, 7, 100, 5_000, 20_000]) {
      const tail = new LastBytes(5_000)
      for (let at = 0; at < all.length; at += size) {
        tail.push(all.subarray(at, at + size))
        const sent = Math.min(at + size, all.length)
        if (at % 1_000 !== 0) continue
        expect(tail.bytes().equals(all.subarray(Math.max(0, sent - 5_000), sent))).toBe(true)
      }
      expect([tail.total, tail.isCut]).toEqual([20_000, true])
      expect(tail.bytes().equals(all.subarray(15_000))).toBe(true)
    }
  })

  it('are all of them up to the bound, and cut after it', () => {
    const tail = new LastBytes(4)
    expect([tail.bytes().toString(), tail.total, tail.isCut]).toEqual(['', 0, false])
    const states = ['ab', 'cd', 'e', '', 'fghi', 'jklmn'].map((text) => {
      tail.push(Buffer.from(text))
      return [tail.bytes().toString(), tail.total, tail.isCut]
    })
    expect(states).toEqual([
      ['ab', 2, false],
      ['abcd', 4, false],
      ['bcde', 5, true],
      ['bcde', 5, true],
      ['fghi', 9, true],
      ['klmn', 14, true],
    ])
  })

  it('hold a chunk by its content, not by its memory', () => {
    const tail = new LastBytes(10)
    const chunk = Buffer.from('abc')
    tail.push(chunk)
    chunk.fill(0)
    expect(tail.bytes().toString()).toBe('abc')
    expect(tail.isCut).toBe(false)
  })
})
