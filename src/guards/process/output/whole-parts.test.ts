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
