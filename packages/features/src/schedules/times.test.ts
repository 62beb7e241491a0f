import { describe, expect, it } from 'vitest'
import { cpuMs } from '../../../../test/support/cpu-time.ts'
import { readWhen } from './definition.ts'
import { nextTime, passedTimes, shortestGap, type Timing } from './times.ts'
import type { WrittenWhen } from './types.ts'

const utc = (text: string) => Date.parse(`${text}Z`)
const shown = (time: number) => new Date(time).toISOString().slice(0, 16)

function timing(when: WrittenWhen, since = utc('2027-01-01T00:00'), timeZone = 'Europe/Berlin'): Timing {
  return { when: readWhen(when, timeZone), timeZone, since }
}

/** The times after a moment, in UTC. */
function timesAfter(when: WrittenWhen, from: string, count: number): string[] {
  const known = timing(when)
  const times: string[] = []
  for (let time = nextTime(known, utc(from)); time !== undefined && times.length < count; time = nextTime(known, time))
    times.push(shown(time))
  return times
}

describe('times of a schedule in Europe/Berlin', () => {
  it('stay at the same hour by the wall clock when summer begins and ends', () => {
    expect(timesAfter({ cron: '0 9 * * *' }, '2027-03-27T00:00', 3)).toEqual([
      '2027-03-27T08:00',
      '2027-03-28T07:00',
      '2027-03-29T07:00',
    ])
    expect(timesAfter({ cron: '0 9 * * *' }, '2027-10-30T00:00', 3)).toEqual([
      '2027-10-30T07:00',
      '2027-10-31T08:00',
      '2027-11-01T08:00',
    ])
  })

  it('that the clocks skip on 2027-03-28 come when the clocks go on, once; patterns of an hour leave it out', () => {
    expect(timesAfter({ cron: '30 2 * * *' }, '2027-03-27T12:00', 2)).toEqual(['2027-03-28T01:00', '2027-03-29T00:30'])
    expect(timesAfter({ cron: '*/30 2 * * *' }, '2027-03-27T12:00', 2)).toEqual([
      '2027-03-29T00:00',
      '2027-03-29T00:30',
    ])
    expect(timesAfter({ cron: '*/30 * * * *' }, '2027-03-28T00:20', 3)).toEqual([
      '2027-03-28T00:30',
      '2027-03-28T01:00',
      '2027-03-28T01:30',
    ])
  })

  it('that the clocks have twice on 2027-10-31 come once, the first time; patterns of an hour go on through both', () => {
    expect(timesAfter({ cron: '30 2 * * *' }, '2027-10-30T12:00', 2)).toEqual(['2027-10-31T00:30', '2027-11-01T01:30'])
    expect(timesAfter({ cron: '*/30 2 * * *' }, '2027-10-30T12:00', 5)).toEqual([
      '2027-10-31T00:00',
      '2027-10-31T00:30',
      '2027-10-31T01:00',
      '2027-10-31T01:30',
      '2027-11-01T01:00',
    ])
  })

  it('of one time are read in the zone: an hour later where there is none, the first where there are two', () => {
    expect(readWhen({ at: '2027-03-28T02:30' }, 'Europe/Berlin')).toEqual({ at: '2027-03-28T01:30:00.000Z' })
    expect(readWhen({ at: '2027-10-31T02:30:00' }, 'Europe/Berlin')).toEqual({ at: '2027-10-31T00:30:00.000Z' })
    expect(readWhen({ at: '2027-10-31T02:30:00+02:00' }, 'UTC')).toEqual({ at: '2027-10-31T00:30:00.000Z' })
  })

  it('of an interval are counted from its beginning, whatever the clocks do', () => {
    expect(timesAfter({ every: '15m' }, '2027-03-28T00:50', 3)).toEqual([
      '2027-03-28T01:00',
      '2027-03-28T01:15',
      '2027-03-28T01:30',
    ])
    expect(timesAfter({ everyMs: 86_400_000 }, '2027-01-01T00:00', 1)).toEqual(['2027-01-02T00:00'])
  })

  it('end with until', () => {
    const known = { ...timing({ cron: '0 * * * *' }), until: utc('2027-01-01T02:30') }
    expect(nextTime(known, utc('2027-01-01T01:30'))).toBe(utc('2027-01-01T02:00'))
    expect(nextTime(known, utc('2027-01-01T02:00'))).toBeUndefined()
  })
})

describe('times that have passed', () => {
  it('are listed from the first to now, over both changes of the clocks', () => {
    const known = timing({ cron: '30 2 * * *' })
    for (const first of ['2027-03-27T01:30', '2027-10-30T00:30']) {
      const passed = passedTimes(known, utc(first), utc(first) + 3.5 * 86_400_000)
      expect(passed).toHaveLength(4)
      expect(passed[0]).toBe(utc(first))
      expect(new Set(passed).size).toBe(4)
    }
  })

  it('are at most the last 100, found backwards and not one by one', () => {
    for (const when of [{ cron: '* * * * *' }, { every: '1m' }]) {
      const now = utc('2029-01-01T00:00') + 30_000
      let passed: readonly number[] = []
      const took = cpuMs(() => {
        passed = passedTimes(timing(when), utc('2027-01-01T00:01'), now)
      })
      // A million times one by one take ten times as long.
      expect(took).toBeLessThan(2_000)
      expect(passed).toHaveLength(100)
      expect([shown(passed[0]!), shown(passed.at(-1)!)]).toEqual(['2028-12-31T22:21', '2029-01-01T00:00'])
    }
  })

  it('have a shortest gap', () => {
    expect(shortestGap(timing({ cron: '0,20 * * * *' }), utc('2027-01-01T00:00'))).toBe(1_200_000)
    expect(shortestGap(timing({ cron: '*/5 * * * * *' }), utc('2027-01-01T00:00'))).toBe(5_000)
    expect(shortestGap(timing({ every: '90s' }), 0)).toBe(90_000)
  })
})

describe('an invalid time', () => {
  it.each([
    [{ cron: '61 * * * *' }, 'field 1 (minute), "61" at character 1'],
    [{ cron: '0 25 * * *' }, 'field 2 (hour), "25" at character 3'],
    [{ cron: '0 9  32 * *' }, 'field 3 (day of month), "32" at character 6, is invalid: the value is out of range'],
    [{ cron: '0 9 * 13 *' }, 'field 4 (month), "13"'],
    [{ cron: '0 9 * * FUNDAY' }, 'field 5 (day of week), "FUNDAY" at character 9'],
    [{ cron: '0 0 9 * * 8' }, 'field 6 (day of week), "8"'],
    [{ cron: '*/0 * * * *' }, 'field 1 (minute), "*/0"'],
    [{ cron: '5-1 * * * *' }, 'From value is larger than to value'],
    [{ cron: '* * *' }, 'it has 3 fields, not 5 or 6'],
    [{ cron: '0 0 9 * * * 2027' }, 'it has 7 fields'],
    [{ cron: '@reboot' }, '@reboot'],
    [{ cron: '2027-01-01T00:00:00' }, 'is a date'],
    [{ cron: '' }, 'cron: Too small'],
    [{ every: '15 bananas' }, 'not an interval'],
    [{ every: '0s' }, 'not an interval'],
    [{ every: '-5m' }, 'not an interval'],
    [{ at: '2027-02-30T09:00' }, 'at: Invalid ISO datetime'],
    [{ at: 'tomorrow' }, 'at: Invalid ISO datetime'],
    [{ cron: '* * * * *', every: '5m' }, 'give one of'],
    [{}, 'give one of'],
  ])('says what is wrong with %j', (when, message) => {
    expect(() => readWhen(when as WrittenWhen, 'UTC')).toThrow(message)
  })

  it('says that the zone is unknown', () => {
    expect(() => readWhen({ cron: '* * * * *' }, 'Mars/Phobos')).toThrow('Unknown time zone "Mars/Phobos"')
  })
})
