import { expect, it } from 'vitest'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { RequestRates } from './request-limits.ts'

/** How many requests pass immediately. */
function through(rates: RequestRates, ...asked: Parameters<RequestRates['take']>): number {
  let count = 0
  while (rates.take(...asked) === 0) count++
  return count
}

it('lets through 2,000 immediately and 1,000 a second of each principal', async () => {
  const clock = fakeClock()
  const rates = new RequestRates(clock)
  expect([through(rates, 'ada'), rates.take('ada')]).toEqual([2_000, 1])
  await clock.advance(1_000)
  expect([through(rates, 'ada'), through(rates, 'bob')]).toEqual([1_000, 2_000])
  await clock.advance(60_000)
  expect(through(rates, 'ada')).toBe(2_000)
})

it.each([
  [{ perSecond: 2, burst: 3 }, 3, 500],
  [{ perSecond: 4 }, 4, 250],
  [{ perSecond: 0.5 }, 1, 2_000],
  [{ perSecond: 8, burst: 0 }, 1, 125],
])('with %j lets %i through, says the wait in ms, and means it', async (rate, atOnce, waitMs) => {
  for (const sooner of [0, 1]) {
    const clock = fakeClock()
    const rates = new RequestRates(clock)
    expect([through(rates, 'ada', rate), rates.take('ada', rate)]).toEqual([atOnce, waitMs])
    await clock.advance(waitMs - sooner)
    expect(through(rates, 'ada', rate)).toBe(1 - sooner)
  }
})

it('gives nothing for a clock that was set back', () => {
  let now = 10_000
  const rates = new RequestRates({ ...fakeClock(), now: () => now }, { perSecond: 1, burst: 1 })
  expect(rates.take('ada')).toBe(0)
  now = 0
  expect(rates.take('ada')).toBe(1_000)
  now = 1_000
  expect(rates.take('ada')).toBe(0)
})

it('remembers 10,000 principals, and forgets the one first that was quiet for longest', () => {
  const rates = new RequestRates(fakeClock(), { perSecond: 1, burst: 1 })
  const ask = (first: number, count: number) => {
    for (let index = 0; index < count; index++) rates.take(`principal ${first + index}`)
  }
  ask(0, 10_000)
  expect(rates.take('principal 0')).toBe(1_000)
  ask(10_000, 1)
  expect([rates.take('principal 0'), rates.take('principal 1')]).toEqual([1_000, 0])
})
