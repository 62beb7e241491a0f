import { describe, expect, it } from 'vitest'
import type { Definition } from './definition.ts'
import { planFiring } from './ticker.ts'
import { nextTime, passedTimes, shortestGap } from './times.ts'
import type { When } from './types.ts'

const SINCE = Date.UTC(2027, 0, 1)
const MINUTE = 60_000
const DAY = 86_400_000
const timing = (when: When, until?: number) => ({
  ...{ when, timeZone: 'UTC', since: SINCE },
  ...(until !== undefined && { until }),
})
const minutely = { everyMs: MINUTE }
const cron = (expression: string) => timing({ cron: expression })

describe('the next time', () => {
  it.each<[string, When, after: number, next: number | undefined]>([
    ['of an interval is one interval after its beginning', minutely, SINCE, SINCE + MINUTE],
    ['of an interval comes not before its beginning', minutely, SINCE - 9 * MINUTE, SINCE + MINUTE],
    ['of an interval comes after a time of it', minutely, SINCE + MINUTE, SINCE + 2 * MINUTE],
    ['of an interval comes after a moment between two', minutely, SINCE + MINUTE + 1, SINCE + 2 * MINUTE],
    ['of one time is that time', { at: '2027-01-02T00:00:00Z' }, SINCE, SINCE + DAY],
    ['of one time that has come is none', { at: '2027-01-02T00:00:00Z' }, SINCE + DAY, undefined],
  ])('%s', (_, when, after, next) => {
    expect(nextTime(timing(when), after)).toBe(next)
  })

  it('may be the very last moment', () => {
    expect(nextTime(timing(minutely, SINCE + MINUTE), SINCE)).toBe(SINCE + MINUTE)
    expect(nextTime(timing(minutely, SINCE + MINUTE - 1), SINCE)).toBeUndefined()
  })
})

describe('times that have passed', () => {
  const span = (times: readonly number[]) => [
    times.length,
    (times[0]! - SINCE) / MINUTE,
    (times.at(-1)! - SINCE) / MINUTE,
  ]

  it.each<[string, When]>([
    ['an interval', minutely],
    ['an expression', { cron: '* * * * *' }],
  ])('of %s are counted up to now, a hundred at most', (_, when) => {
    const passed = (upTo: number, until?: number) =>
      span(passedTimes(timing(when, until), SINCE + MINUTE, SINCE + upTo))
    expect(passed(3 * MINUTE)).toEqual([3, 1, 3])
    expect(passed(3 * MINUTE - 1)).toEqual([2, 1, 2])
    expect(passed(100 * MINUTE)).toEqual([100, 1, 100])
    expect(passed(101 * MINUTE)).toEqual([100, 2, 101])
    expect(passed(500 * MINUTE, SINCE + 200 * MINUTE)).toEqual([100, 101, 200])
    expect(passed(500 * MINUTE - 1)).toEqual([100, 400, 499])
  })
})

describe('the shortest gap', () => {
  it.each<[string, expression: string, wanted: number, gap: number]>([
    ['is at least a minute without seconds, which is enough to know', '0 9 * * *', MINUTE, MINUTE],
    ['is at least a minute with one second', '30 0 9 * * *', MINUTE, MINUTE],
    ['is looked for where a minute is not enough', '0 9 * * *', MINUTE + 1, DAY],
    ['is looked for where there are several seconds', '0,20 * * * * *', 10_000, 20_000],
    ['is looked for where seconds come in steps', '*/5 0 * * * *', 10_000, 5_000],
  ])('%s', (_, expression, wanted, gap) => {
    expect(shortestGap(cron(expression), SINCE, wanted)).toBe(gap)
  })

  it('is found among a hundred times of a day', () => {
    expect(shortestGap(cron('0,1,30 12 * * *'), SINCE)).toBe(MINUTE)
    expect(shortestGap(cron('0 9 * * 1,2'), SINCE)).toBe(DAY)
    expect(shortestGap(timing({ cron: '0 9 * * *' }, SINCE + DAY), SINCE)).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('a schedule that skips what it missed', () => {
  const plan = (lateMs: number, jitterMs: number) =>
    planFiring(
      { ...timing({ everyMs: DAY }), missed: 'skip', jitterMs } as unknown as Definition,
      SINCE + DAY,
      SINCE + DAY + lateMs,
    )

  it('runs up to a minute late, and its jitter later', () => {
    expect(plan(MINUTE, 0)).toEqual({ times: [SINCE + DAY], missed: 0, last: SINCE + DAY, next: SINCE + 2 * DAY })
    expect(plan(MINUTE + 1, 0)).toMatchObject({ times: [], missed: 1 })
    expect(plan(MINUTE + 500, 500).times).toHaveLength(1)
    expect(plan(MINUTE + 501, 500).times).toHaveLength(0)
  })

  it('has no next time when that was the last', () => {
    const once = { ...timing({ at: '2027-01-02T00:00:00Z' }), missed: 'once', jitterMs: 0 } as unknown as Definition
    expect(planFiring(once, SINCE + DAY, SINCE + 5 * DAY)).toEqual({
      times: [SINCE + DAY],
      missed: 0,
      last: SINCE + DAY,
    })
  })
})
