import { ToolError } from '@tool-hub/core/errors'
import { createMemoryStore } from '@tool-hub/library/stores'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Clock } from '../../../core/src/context.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { RateLimiter } from './throughput.ts'

describe('RateLimiter', () => {
  it('lets a burst through, then says how long to wait, and means it', async () => {
    const clock = fakeClock()
    const rate = limiterOf({ all: { perSecond: 2, burst: 3 } }, clock)
    for (let i = 0; i < 3; i++) rate.take('x')
    const refusal = refusalOf(() => rate.take('x'))
    expect(refusal).toMatchObject({ code: 'RATE_LIMITED', retryable: true, details: { retryAfterMs: 500 } })
    expect(refusal.message).toBe('All tools together: at most 2 calls a second, in bursts of 3; wait 500 ms.')
    expect(refusal.details).toEqual({ retryAfterMs: 500, perSecond: 2, burst: 3 })
    expect(refusal.fix).toEqual({
      key: 'limits.rate',
      hint: 'Wait as long as the message says, then call again, or have the owner raise limits.rate.',
    })
    await clock.advance(499)
    expect(() => rate.take('x')).toThrow('wait 1 ms')
    await clock.advance(1)
    rate.take('x')
  })

  it('takes no token of any bucket for a refused call', async () => {
    const clock = fakeClock()
    const rate = limiterOf({ all: { perSecond: 1, burst: 2 }, tools: { slow: { perSecond: 0.1, burst: 1 } } }, clock)
    rate.take('slow')
    for (let i = 0; i < 50; i++) expect(() => rate.take('slow')).toThrow('wait 10000 ms')
    rate.take('other')
    expect(() => rate.take('other')).toThrow('wait 1000 ms')
  })

  it('counts every whole 100 kB of arguments as one more call', () => {
    const rate = limiterOf({ all: { perSecond: 1, burst: 5 } }, fakeClock())
    rate.take('x', 99_999)
    rate.take('x', 100_000)
    expect(() => rate.take('x', 200_000)).toThrow('wait 1000 ms')
    rate.take('x', 199_999)
    expect(() => rate.take('x')).toThrow('wait 1000 ms')
  })

  it('lets arguments that are larger than the bucket wait until it is full', async () => {
    const clock = fakeClock()
    const rate = limiterOf({ all: { perSecond: 1, burst: 2 } }, clock)
    rate.take('x', 10_000_000)
    expect(() => rate.take('x', 10_000_000)).toThrow('wait 2000 ms')
    await clock.advance(2_000)
    rate.take('x', 10_000_000)
  })

  it('has room for one call at least', () => {
    const rate = limiterOf({ all: { perSecond: 1, burst: 0 } }, fakeClock())
    rate.take('x')
    expect(refusalOf(() => rate.take('x'))).toMatchObject({ details: { burst: 1 } })
  })

  it('names the longer wait when both buckets are empty', () => {
    const rate = limiterOf({ all: { perSecond: 0.01 }, tools: { x: { perSecond: 1 } } }, fakeClock())
    rate.take('x')
    expect(refusalOf(() => rate.take('x')).fix.key).toBe('limits.rate')
  })

  it('does not call a rate of zero retryable', () => {
    const rate = limiterOf({ tools: { x: { perSecond: 0, burst: 1 } } }, fakeClock())
    rate.take('x')
    expect(refusalOf(() => rate.take('x'))).toMatchObject({
      retryable: false,
      message: 'x: at most 0 calls a second, in bursts of 1; waiting will not help.',
      fix: { key: 'limits.tools["x"].rate' },
    })
  })

  it('holds as many calls as a second has, rounded up, unless the owner says otherwise', () => {
    const rate = limiterOf({ all: { perSecond: 1.5 } }, fakeClock())
    for (let i = 0; i < 2; i++) rate.take('x')
    expect(refusalOf(() => rate.take('x'))).toMatchObject({ details: { burst: 2 } })
  })

  it('adds the limits of principals, each with its own bucket, to all others', () => {
    const all = limiterOf({ all: { perSecond: 1, burst: 3 }, tools: { x: { perSecond: 1, burst: 2 } } }, fakeClock())
    const one = all.forPrincipal('token:ci', { perSecond: 1, burst: 1 })
    const within = one.forPrincipal('token:ci/s1', { perSecond: 1, burst: 5 })
    one.take('x')
    expect(refusalOf(() => one.take('x'))).toMatchObject({
      message: 'token:ci: at most 1 calls a second, in bursts of 1; wait 1000 ms.',
      fix: { key: 'rate' },
    })
    expect(refusalOf(() => within.take('y')).message).toMatch(/^token:ci: /)
    const other = all.forPrincipal('token:ada', { perSecond: 1, burst: 5 })
    other.take('x')
    expect(refusalOf(() => other.take('x')).message).toMatch(/^x: /)
    other.take('y')
    expect(refusalOf(() => other.take('y')).message).toMatch(/^All tools together: /)
  })

  it('asks no clock for a tool without a rate', () => {
    const clock = { ...fakeClock(), now: () => 0 }
    const rate = limiterOf({ tools: { x: { perSecond: 1 } } }, clock)
    clock.now = () => {
      throw new Error('asked')
    }
    rate.take('toString')
  })

  it('survives a clock that was set back', () => {
    let now = 1_000_000
    const rate = limiterOf({ all: { perSecond: 1, burst: 1 } }, { ...fakeClock(), now: () => now })
    rate.take('x')
    now = 0
    expect(() => rate.take('x')).toThrow(ToolError)
    now = 1000
    rate.take('x')
  })

  it('never gives more than burst + time x rate, and always keeps its word about the wait', () => {
    const scenario = fc.record({
      perSecond: fc.double({ min: 0.01, max: 1000, noNaN: true }),
      burst: fc.integer({ min: 1, max: 50 }),
      steps: fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 200 }),
    })
    fc.assert(
      fc.property(scenario, ({ perSecond, burst, steps }) => {
        let now = 0
        let taken = 0
        const rate = limiterOf({ all: { perSecond, burst } }, { ...fakeClock(), now: () => now })
        for (const step of steps) {
          now += step
          const wait = attempt(rate)
          if (wait === 0) taken++
          expect(taken).toBeLessThanOrEqual(burst + (now / 1000) * perSecond + 0.001)
          if (wait === 0) continue
          now += wait
          expect(attempt(rate)).toBe(0)
          taken++
        }
      }),
    )
  })
})

/** The wait that a refusal states, 0 when the call went through. */
function attempt(rate: RateLimiter): number {
  try {
    rate.take('x')
    return 0
  } catch (error) {
    return (error as ToolError).details?.retryAfterMs as number
  }
}

function refusalOf(work: () => void): ToolError {
  try {
    work()
  } catch (error) {
    if (ToolError.is(error)) return error
  }
  throw new Error('no ToolError was thrown')
}

function limiterOf(limits: ConstructorParameters<typeof RateLimiter>[0], clock: Clock): RateLimiter {
  return new RateLimiter(limits, createMemoryStore().rates, clock)
}
