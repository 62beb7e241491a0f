import { describe, expect, it } from 'vitest'
import { retryDelayMs } from './failures.ts'

const longest = () => 1

describe('retryDelayMs', () => {
  it('waits up to twice as long after each attempt', () => {
    expect([1, 2, 3, 4].map((attempt) => retryDelayMs(attempt, { attempts: 5, baseMs: 100 }, longest))).toEqual([
      100, 200, 400, 800,
    ])
  })

  it('begins with up to 200 ms', () => {
    expect(retryDelayMs(1, { attempts: 2 }, longest)).toBe(200)
  })

  it('spreads callers over the whole time', () => {
    expect(retryDelayMs(3, { attempts: 5, baseMs: 100 }, () => 0)).toBe(0)
    expect(retryDelayMs(3, { attempts: 5, baseMs: 100 }, () => 0.5)).toBe(200)
  })

  it('never waits over 30 s, however often or whatever the server says', () => {
    expect(retryDelayMs(10_000, { attempts: 10_001 }, longest)).toBe(30_000)
    expect(retryDelayMs(1, { attempts: 2 }, longest, 3_600_000)).toBe(30_000)
    expect(retryDelayMs(10_000, { attempts: 2, baseMs: 0 }, longest)).toBe(0)
  })

  it('doubles the wait 30 times at most', () => {
    expect([30, 31, 32].map((attempt) => retryDelayMs(attempt, { attempts: 40, baseMs: 2 ** -16 }, longest))).toEqual([
      2 ** 13,
      2 ** 14,
      2 ** 14,
    ])
  })

  it('comes back no sooner than the server asked', () => {
    expect(retryDelayMs(1, { attempts: 2, baseMs: 100 }, () => 0, 5000)).toBe(5000)
  })

  it('ignores a server that asks for nonsense', () => {
    for (const nonsense of [Number.NaN, -5, Number.NEGATIVE_INFINITY]) {
      expect(retryDelayMs(1, { attempts: 2, baseMs: 100 }, longest, nonsense)).toBe(100)
    }
  })
})
