import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { createRunCache } from './run-cache.ts'

const bounds = { maxEntries: 3, maxBytes: 1000, maxValueBytes: 500 }

describe('createRunCache', () => {
  it('returns what was set, under any name', () => {
    const cache = createRunCache({ ...bounds, clock: fakeClock() })
    expect(cache.get('a')).toBeUndefined()
    expect(cache.set('__proto__', { b: [1, null, 'ü'] })).toEqual({ bytes: 19 })
    expect(cache.get('__proto__')).toEqual({ value: { b: [1, null, 'ü'] }, expiresAt: undefined })
    expect(cache.get('constructor')).toBeUndefined()
  })

  it('shares no object between callers', () => {
    const cache = createRunCache({ ...bounds, clock: fakeClock() })
    const value = { list: [1] }
    cache.set('a', value)
    value.list.push(2)
    const first = cache.get('a')?.value as typeof value
    first.list.push(3)
    expect(cache.get('a')?.value).toEqual({ list: [1] })
  })

  it('forgets after the time to live, also on a clock that begins at 0', async () => {
    const clock = fakeClock(0)
    const cache = createRunCache({ ...bounds, clock })
    cache.set('a', 1, { ttlMs: 100 })
    expect(cache.get('a')).toEqual({ value: 1, expiresAt: 100 })
    await clock.advance(99)
    expect(cache.get('a')).toBeDefined()
    await clock.advance(1)
    expect(cache.get('a')).toBeUndefined()
  })

  it('makes room by dropping what was used longest ago', () => {
    const cache = createRunCache({ ...bounds, clock: fakeClock() })
    for (const key of ['a', 'b', 'c']) cache.set(key, key)
    cache.get('a')
    cache.set('d', 'd')
    expect(['a', 'b', 'c', 'd'].map((key) => cache.get(key)?.value)).toEqual(['a', undefined, 'c', 'd'])
  })

  it('keeps within its bytes', () => {
    const cache = createRunCache({ ...bounds, clock: fakeClock() })
    for (const key of ['a', 'b', 'c']) cache.set(key, 'x'.repeat(400))
    expect(['a', 'b', 'c'].map((key) => cache.get(key) !== undefined)).toEqual([false, true, true])
  })

  it('refuses a value that is too large, with the numbers, and keeps the rest', () => {
    const cache = createRunCache({ ...bounds, clock: fakeClock() })
    cache.set('a', 1)
    const message = 'Key and value have 603 bytes, the cache takes at most 500 at a time.'
    expect(() => cache.set('b', 'x'.repeat(600))).toThrow(expect.objectContaining({ code: 'FILE_TOO_LARGE', message }))
    expect(() => cache.set('k'.repeat(600), 1)).toThrow('601 bytes')
    expect(() => cache.set('b', 'x'.repeat(498))).toThrow(
      expect.objectContaining({
        fix: { hint: 'Cache a smaller part, or keep it as an artifact.' },
        details: { bytes: 501, limit: 500 },
      }),
    )
    expect(cache.set('b', 'x'.repeat(497))).toEqual({ bytes: 499 })
    expect(cache.get('a')?.value).toBe(1)
  })

  it('refuses what JSON cannot hold, and times that make no sense', () => {
    const cache = createRunCache({ ...bounds, clock: fakeClock() })
    const cycle: unknown[] = []
    cycle.push(cycle)
    for (const value of [undefined, () => 1, 1n, cycle]) {
      expect(() => cache.set('a', value)).toThrow(
        expect.objectContaining({
          code: 'INPUT_SCHEMA_INVALID',
          message: 'Only what JSON can hold is cached.',
          fix: { hint: 'Cache plain data: no functions, cycles, BigInt or undefined.' },
        }),
      )
    }
    for (const ttlMs of [0, -1, Number.NaN])
      expect(() => cache.set('a', 1, { ttlMs })).toThrow(
        expect.objectContaining({
          code: 'INPUT_SCHEMA_INVALID',
          message: `ttlMs is ${ttlMs}; it must be over 0.`,
          fix: { hint: 'Leave it out to keep the value for the run.' },
        }),
      )
  })
})
