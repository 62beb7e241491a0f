import { describe, expect, it } from 'vitest'
import { checkSchedulesOptions } from './create-schedules.ts'

describe('the options of schedules', () => {
  it.each([
    {},
    { most: 0 },
    { shortestMs: 1_000 },
    { parallel: 1 },
    { parallel: 256 },
    { keep: 1 },
    { keep: 10_000 },
    { timeZone: 'Europe/Berlin' },
    { entries: { a: 'whatever it is' } },
  ])('may be %j', (options) => {
    expect(() => checkSchedulesOptions(options as never)).not.toThrow()
  })

  it.each([
    [{ most: -1 }, 'schedules.most: Too small'],
    [{ most: 1.5 }, 'schedules.most: Invalid input'],
    [{ shortestMs: 999 }, 'schedules.shortestMs: Too small'],
    [{ parallel: 0 }, 'schedules.parallel: Too small'],
    [{ parallel: 257 }, 'schedules.parallel: Too big'],
    [{ keep: 0 }, 'schedules.keep: Too small'],
    [{ keep: 10_001 }, 'schedules.keep: Too big'],
    [{ timeZone: 'Mars/Phobos' }, 'schedules.timeZone: Unknown time zone "Mars/Phobos".'],
    [{ entires: {} }, 'schedules: Unrecognized key: "entires"'],
  ])('may not be %j', (options, message) => {
    expect(() => checkSchedulesOptions(options as never)).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining(message),
        fix: { hint: 'docs/reference/schedules.md lists the options.' },
      }),
    )
  })
})
