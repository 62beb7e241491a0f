import { describe, expect, it } from 'vitest'
import { LastBytes } from './last-bytes.ts'

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
