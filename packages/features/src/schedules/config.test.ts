import { describe, expect, it } from 'vitest'
import { schedulesConfig } from './config.ts'

const calls = [{ tool: 'note' }]

describe('the schedules of a config', () => {
  it('become options of a hub, with their units read', () => {
    const written = schedulesConfig.schema.parse({
      entries: {
        nightly: { cron: '0 3 * * *', timeZone: 'Europe/Berlin', calls, jitter: '5m', timeout: '10m', missed: 'skip' },
        often: { every: '15m', calls: [{ tool: 'note', input: { text: 'hi' } }], maxRuns: 3 },
        once: { at: '2027-01-31T09:00', calls },
      },
      timeZone: 'UTC',
      ...{ most: 5, shortest: '30s', parallel: 2, keep: 10 },
    })
    expect(schedulesConfig.toOptions(written, String)).toEqual({
      entries: {
        nightly: {
          when: { cron: '0 3 * * *' },
          ...{ timeZone: 'Europe/Berlin', calls, jitterMs: 300_000, timeoutMs: 600_000, missed: 'skip' },
        },
        often: { when: { everyMs: 900_000 }, calls: [{ tool: 'note', input: { text: 'hi' } }], maxRuns: 3 },
        once: { when: { at: '2027-01-31T09:00' }, calls },
      },
      ...{ timeZone: 'UTC', most: 5, shortestMs: 30_000, parallel: 2, keep: 10 },
    })
  })

  it('have names in any language, one name for all ways to write it', () => {
    const written = schedulesConfig.schema.parse({
      entries: { 日报: { every: '1h', calls }, 'cafe\u0301': { every: '1h', calls } },
    })
    expect(Object.keys(schedulesConfig.toOptions(written, String).entries ?? {})).toEqual(['日报', 'caf\u00e9'])
  })

  it('are none without entries: what was there before goes', () => {
    expect(schedulesConfig.toOptions({}, String)).toEqual({ entries: {} })
  })

  it.each([
    [{ entries: { x: { calls } } }, 'needs one of cron, every and at; none are given'],
    [{ entries: { x: { cron: '* * * * *', every: '5m', calls } } }, '2 are given'],
    [{ entries: { 'a:b': { every: '5m', calls } } }, 'letters and digits of any language'],
    [{ entries: { x: { every: '5m', calls: [] } } }, 'Too small'],
    [{ entries: { x: { at: '2027-02-30T09:00', calls } } }, 'Invalid ISO datetime'],
    [{ shortest: '100ms' }, 'at least 1s'],
  ])('are refused when they say %j', (written, message) => {
    const { success, error } = schedulesConfig.schema.safeParse(written)
    expect(success).toBe(false)
    expect(JSON.stringify(error!.issues)).toContain(message)
  })
})
