import { describe, expect, it } from 'vitest'
import { type Definition, readChange, readNew } from './definition.ts'
import type { NewSchedule, SchedulesOptions } from './types.ts'

const DAY = 86_400_000
const NOW = Date.UTC(2027, 0, 1)
const calls = [{ tool: 'note' }]
const read = (more: object = {}, options: SchedulesOptions = {}) =>
  readNew({ name: 'job', when: { every: '10m' }, calls, ...more } as NewSchedule, { timeZone: 'UTC', ...options }, NOW)

describe('a new schedule', () => {
  it('has what it leaves open filled in', () => {
    expect(read()).toEqual({
      name: 'job',
      ...{
        when: { everyMs: 600_000 },
        timeZone: 'UTC',
        calls,
        continueOnError: false,
        missed: 'once',
        overlap: 'skip',
      },
      ...{ jitterMs: 0, timeoutMs: 3_600_000, enabled: true },
    })
  })

  it('is what it says', () => {
    const said = { continueOnError: true, missed: 'all', overlap: 'queue', jitterMs: 5, timeoutMs: 2_000, maxRuns: 3 }
    const more = { ...said, timeZone: 'Europe/Berlin', enabled: false }
    expect(read({ ...more, until: '2027-02-01T09:00:00.250' })).toMatchObject({
      ...more,
      until: Date.UTC(2027, 1, 1, 8),
    })
    expect(read({ until: '2027-02-01T09:00:00.250+02:00' }).until).toBe(Date.UTC(2027, 1, 1, 7, 0, 0, 250))
    expect(read({ until: '2027-02-01T09:00:00-02:00' }).until).toBe(Date.UTC(2027, 1, 1, 11))
    expect(read({ until: '2027-02-01T09:00:00Z' }).until).toBe(Date.UTC(2027, 1, 1, 9))
  })

  it.each<[string, object]>([
    ['a name of one character', { name: 'a' }],
    ['a name of 60 Chinese characters', { name: '报'.repeat(60) }],
    ['a name of 60 characters', { name: `1${'a._-'.repeat(15)}`.slice(0, 60) }],
    ['an expression of 200 characters', { when: { cron: '0 9 * * 1'.padEnd(200) } }],
    ['an interval of a hundred years', { when: { everyMs: 100 * 366 * DAY } }],
    ['the shortest interval', { when: { everyMs: 10_000 } }],
    ['a tool with one character', { calls: [{ tool: 'x' }] }],
    ['a tool with 128 characters', { calls: [{ tool: 'x'.repeat(128) }] }],
    ['20 calls', { calls: Array(20).fill({ tool: 'x' }) }],
    ['no jitter', { jitterMs: 0 }],
    ['an hour of jitter', { when: { every: '1d' }, jitterMs: 3_600_000 }],
    ['a jitter just below its interval', { when: { everyMs: 10_000 }, jitterMs: 9_999 }],
    ['a jitter of more than a minute, once a day', { when: { cron: '0 9 * * *' }, jitterMs: 60_001 }],
    ['a jitter of one time', { when: { at: '2027-01-02T00:00' }, jitterMs: 3_600_000 }],
    ['one run', { maxRuns: 1 }],
    ['a billion runs', { maxRuns: 1_000_000_000 }],
    ['a second of time', { timeoutMs: 1_000 }],
    ['a day of time', { timeoutMs: DAY }],
  ])('may have %s', (_, more) => {
    expect(read(more)).toBeDefined()
  })

  it.each<[string, object, string]>([
    [
      'a name of 61 characters',
      { name: 'a'.repeat(61) },
      'name: letters and digits of any language, . _ and -, beginning with a letter or digit, at most 60',
    ],
    ['a name that begins with a dash', { name: '-a' }, 'name: letters'],
    ['a name that ends in a space', { name: 'a ' }, 'name: letters'],
    ['an expression of 201 characters', { when: { cron: '0 9 * * 1'.padEnd(201) } }, 'when.cron: Too big'],
    ['an expression of one character', { when: { cron: '*' } }, 'it has 1 fields'],
    ['an interval of one character', { when: { every: '5' } }, 'every "5" is not an interval.'],
    ['an interval of 30 characters', { when: { every: 'x'.repeat(30) } }, 'is not an interval.'],
    ['an interval of 31 characters', { when: { every: 'x'.repeat(31) } }, 'when.every: Too big'],
    ['no interval', { when: { everyMs: 0 } }, 'when.everyMs: Too small'],
    ['an interval over a hundred years', { when: { everyMs: 100 * 366 * DAY + 1 } }, 'when.everyMs: Too big'],
    ['an interval of a millisecond', { when: { everyMs: 1 } }, 'It would run every 1 ms'],
    ['no tool', { calls: [{ tool: '' }] }, 'calls.0.tool: Too small'],
    ['a tool with 129 characters', { calls: [{ tool: 'x'.repeat(129) }] }, 'calls.0.tool: Too big'],
    ['no calls', { calls: [] }, 'calls: Too small'],
    ['21 calls', { calls: Array(21).fill({ tool: 'x' }) }, 'calls: Too big'],
    ['a negative jitter', { jitterMs: -1 }, 'jitterMs: Too small'],
    ['over an hour of jitter', { jitterMs: 3_600_001 }, 'jitterMs: Too big'],
    ['a zone of one character', { timeZone: 'X' }, 'Unknown time zone "X".'],
    ['a zone of 64 characters', { timeZone: 'X'.repeat(64) }, 'Unknown time zone'],
    ['a zone of 65 characters', { timeZone: 'X'.repeat(65) }, 'timeZone: Too big'],
    ['no zone', { timeZone: '' }, 'timeZone: Too small'],
    ['no run', { maxRuns: 0 }, 'maxRuns: Too small'],
    ['over a billion runs', { maxRuns: 1_000_000_001 }, 'maxRuns: Too big'],
    ['less than a second of time', { timeoutMs: 999 }, 'timeoutMs: Too small'],
    ['over a day of time', { timeoutMs: DAY + 1 }, 'timeoutMs: Too big'],
    ['a policy that does not exist', { missed: 'some' }, 'missed: Invalid option'],
    ['an overlap that does not exist', { overlap: 'some' }, 'overlap: Invalid option'],
    ['another field', { often: true }, 'schedule: Unrecognized key: "often"'],
    ['another field of a call', { calls: [{ tool: 'x', often: true }] }, 'calls.0: Unrecognized key: "often"'],
  ])('may not have %s', (_, more, message) => {
    expect(() => read(more)).toThrow(
      expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID', message: expect.stringContaining(message) }),
    )
  })

  it('reports at most five problems', () => {
    const wrong = { name: '', calls: [], jitterMs: -1, maxRuns: 0, timeoutMs: 0, timeZone: '', enabled: 7 }
    const message = (() => {
      try {
        return String(read(wrong))
      } catch (error) {
        return (error as Error).message
      }
    })()
    expect(message).toMatch(/^Not a schedule: /)
    expect(message.split('; ')).toHaveLength(5)
  })

  it.each<[object, SchedulesOptions, string, string]>([
    [
      { when: { everyMs: 9_999 } },
      {},
      'It would run every 9999 ms; the minimum time between two runs is 10000 ms.',
      'Give a longer interval, or ask the owner to lower schedules.shortest.',
    ],
    [
      { when: { everyMs: 999 } },
      { shortestMs: 1 },
      'It would run every 999 ms; the minimum time between two runs is 1000 ms.',
      'Give a longer interval, or ask the owner to lower schedules.shortest.',
    ],
    [
      { when: { at: '2027-01-01T00:00' } },
      {},
      '2027-01-01T00:00:00.000Z is in the past, or after until.',
      'Give a future time.',
    ],
    [
      { when: { at: '2027-01-03T00:00' }, until: '2027-01-02T00:00' },
      {},
      '2027-01-03T00:00:00.000Z is in the past, or after until.',
      'Give a future time.',
    ],
    [
      { when: { cron: '0 0 30 2 *' } },
      {},
      'It would never run: {"cron":"0 0 30 2 *"} has no time.',
      'Give another time.',
    ],
    [
      { when: { every: '1h' }, until: '2027-01-01T00:30' },
      {},
      'It would never run: {"everyMs":3600000} has no time before 2027-01-01T00:30:00.000Z.',
      'Give another time.',
    ],
    [{ when: { every: 'often' } }, {}, 'every "often" is not an interval.', 'Use 90s, 15m, 1h or 1d.'],
    [{ timeZone: 'Mars' }, {}, 'Unknown time zone "Mars".', 'Use a name such as Europe/Berlin or UTC.'],
    [
      { when: { cron: '* * *' } },
      {},
      'cron "* * *": it has 3 fields, not 5 or 6.',
      'Use five fields: minute hour day-of-month month day-of-week, optionally preceded by seconds: "0 9 * * 1-5" is 9:00 on weekdays. Also valid: @hourly, @daily, @weekly, @monthly, @yearly.',
    ],
    [
      { calls: [{ tool: 'x', input: 'y'.repeat(64_000) }] },
      {},
      'The calls have 64025 characters, the limit is 64000.',
      'Move long arguments into a file.',
    ],
  ])('with %j and the options %j is refused with a way out', (more, options, message, hint) => {
    expect(() => read(more, options)).toThrow(expect.objectContaining({ message, fix: { hint } }))
  })

  it.each([
    [
      { when: { everyMs: 10_000 }, jitterMs: 10_000 },
      'A jitter of 10000 ms needs more than 10000 ms between two runs.',
    ],
    [
      { when: { cron: '* * * * *' }, jitterMs: 60_000 },
      'A jitter of 60000 ms needs more than 60000 ms between two runs.',
    ],
  ])('with %j would run twice concurrently', (more, message) => {
    expect(() => read(more)).toThrow(message)
  })

  it('may run as often as the owner lets it', () => {
    expect(read({ when: { everyMs: 1_000 } }, { shortestMs: 1_000 }).when).toEqual({ everyMs: 1_000 })
    expect(() => read({ when: { everyMs: 20_000 } }, { shortestMs: 20_001 })).toThrow('is 20001 ms')
  })

  it('is in the zone of the machine where nobody names one', () => {
    const { timeZone } = readNew({ name: 'job', when: { every: '1h' }, calls }, {}, NOW)
    expect(timeZone).toBe(Intl.DateTimeFormat().resolvedOptions().timeZone)
  })

  it('takes calls of 64,000 characters as JSON, and not one more, nor such as cannot be written', () => {
    const callsOf = (chars: number) => [{ tool: 'note', input: { text: 'x'.repeat(chars) } }]
    const frame = JSON.stringify(callsOf(0)).length
    expect(JSON.stringify(read({ calls: callsOf(64_000 - frame) }).calls)).toHaveLength(64_000)
    expect(() => read({ calls: callsOf(64_001 - frame) })).toThrow('64001 characters, the limit is 64000')
    const circle: Record<string, unknown> = {}
    circle.again = circle
    expect(() => read({ calls: [{ tool: 'x', input: circle }] })).toThrow('The calls cannot be written as JSON: ')
  })
})

describe('a change of a schedule', () => {
  const { enabled: _, name: __, ...said } = read({ until: '2027-02-01T00:00', maxRuns: 3 })
  const before = { ...said, since: 0, rights: { caller: 'x' }, createdBy: { by: 'x', tainted: false } } as Definition
  const change = (written: object, known = before, now = NOW) =>
    readChange(written, known, { timeZone: 'Europe/Berlin' }, now)

  it('leaves the rest as it is', () => {
    expect(change({})).toEqual(said)
    expect(change({ enabled: false })).toEqual({ ...said, enabled: false })
    expect(change({ maxRuns: 5, until: '2027-03-01T00:00' })).toEqual({
      ...{ ...said, maxRuns: 5, until: Date.UTC(2027, 2, 1) },
    })
  })

  it('is refused with what no schedule may have', () => {
    expect(() => change({ name: 'other' })).toThrow('Unrecognized key: "name"')
    expect(() => change({ maxRuns: 0 })).toThrow('maxRuns: Too small')
  })

  it('of one that has had its time judges only a new time', () => {
    const once = { ...before, when: { at: '2026-12-31T00:00:00.000Z' } }
    expect(change({ enabled: false }, once)).toMatchObject({ enabled: false })
    expect(() => change({ when: { at: '2026-12-31T00:00' } }, once)).toThrow('is in the past')
    expect(change({ when: { every: '1h' } }, once).when).toEqual({ everyMs: 3_600_000 })
    expect(() => change({ maxRuns: 9 }, before, Date.UTC(2027, 1, 2))).toThrow('It would never run')
  })
})
