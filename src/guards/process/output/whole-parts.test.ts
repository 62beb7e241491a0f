import { describe, expect, it } from 'vitest'
import { fromWholeLine, unfinishedBytes, upToWholeCharacter } from './whole-parts.ts'

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
