import { describe, expect, it } from 'vitest'
import { toolContext } from '../../../../../test/support/tool-context.ts'
import { timeNow } from './time-now.ts'

const winter = Date.parse('2026-01-02T23:04:05.678Z')
const summer = Date.parse('2026-07-02T23:04:05.678Z')

describe('core/util.time.now', () => {
  it('tells the time of the hub in UTC', () => {
    const ctx = toolContext({ now: winter })
    expect(timeNow.execute({ timezone: 'UTC' }, ctx)).toEqual({
      iso: '2026-01-02T23:04:05.678Z',
      epochMs: winter,
      timezone: 'UTC',
      local: '2026-01-02T23:04:05.678+00:00',
      offsetMinutes: 0,
    })
    expect(ctx.collected).toHaveLength(1)
  })

  it.each([
    ['Europe/Berlin', winter, '2026-01-03T00:04:05.678+01:00', 60],
    ['Europe/Berlin', summer, '2026-07-03T01:04:05.678+02:00', 120],
    ['America/St_Johns', winter, '2026-01-02T19:34:05.678-03:30', -210],
    ['Asia/Kathmandu', winter, '2026-01-03T04:49:05.678+05:45', 345],
    ['Pacific/Kiritimati', winter, '2026-01-03T13:04:05.678+14:00', 840],
    ['Europe/London', winter, '2026-01-02T23:04:05.678+00:00', 0],
  ])('knows the offset of %s at the moment', (timezone, now, local, offsetMinutes) => {
    expect(timeNow.execute({ timezone }, toolContext({ now }))).toMatchObject({ local, offsetMinutes, timezone })
  })

  it.each(['Mars/Olympus', '', 'constructor', 'Europe/Berlin\u0000'])('refuses the time zone %j', (timezone) => {
    expect(() => timeNow.execute({ timezone }, toolContext())).toThrowError(
      expect.objectContaining({
        code: 'INPUT_SCHEMA_INVALID',
        fix: { key: 'timezone', hint: expect.stringContaining('IANA') },
      }),
    )
  })
})
