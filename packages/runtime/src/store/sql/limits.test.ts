import { describe, expect, it } from 'vitest'
import { costIn, fullAt, refill, waitTime } from './limits.ts'

const bucket = (perSecond: number, burst: number) => ({ bucket: 'b', perSecond, burst })
const level = (tokens: number, filledAt = 0) => ({ tokens, filledAt })

describe('a token bucket', () => {
  it.each([
    ['a new one is full', bucket(10, 5), undefined, 100, 5],
    ['it holds one token at least', bucket(10, 0.2), undefined, 100, 1],
    ['it fills as time passes', bucket(10, 50), level(2, 100), 600, 7],
    ['it never holds more than its burst', bucket(10, 5), level(2, 100), 9_000, 5],
    ['a clock that was set back brings nothing', bucket(10, 5), level(2, 900), 100, 2],
  ])('%s', (_, of, before, now, tokens) => {
    expect(refill(of, before, now)).toEqual({ tokens, filledAt: now })
  })

  it.each([
    [3, 5, 3],
    [9, 5, 5],
    [2, 0.5, 1],
  ])('takes for %d tokens of a burst of %d: %d', (wanted, burst, cost) => {
    expect(costIn(bucket(1, burst), wanted)).toBe(cost)
  })

  it.each([
    ['has them', 10, 3, 3, 0],
    ['has nearly them, by what floating point loses', 10, 3 - 1e-7, 3, 0],
    ['just has them', 10, 3 - 1e-6, 3, 0],
    ['is a little short', 10, 3 - 2e-6, 3, 1],
    ['lacks one', 10, 2, 3, 100],
    ['lacks two and a half', 4, 0.5, 3, 625],
    ['is never refilled', 0, 0, 1, Number.POSITIVE_INFINITY],
    ['loses tokens', -1, 0, 1, Number.POSITIVE_INFINITY],
  ])('says how long to wait when it %s', (_, perSecond, tokens, wanted, waitMs) => {
    expect(waitTime(bucket(perSecond, 5), level(tokens), wanted)).toBe(waitMs)
  })

  it('waits for one token by default', () => {
    expect(waitTime(bucket(1, 5), level(0.5))).toBe(500)
  })

  it.each([
    ['at the moment it was filled', bucket(10, 5), level(5, 70), 70],
    ['once what is missing came', bucket(10, 5), level(2, 70), 370],
    ['with one token, where its burst is smaller', bucket(10, 0.5), level(0, 70), 170],
    ['with part of a millisecond rounded up', bucket(3, 1), level(0, 0), 334],
    ['never, where nothing is refilled', bucket(0, 5), level(2, 70), Number.MAX_SAFE_INTEGER],
  ])('is full %s', (_, of, at, full) => {
    expect(fullAt(of, at)).toBe(full)
  })
})
