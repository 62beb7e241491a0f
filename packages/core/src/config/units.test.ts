import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkEach } from '../../../../test/support/check-each.ts'
import { ToolError } from '../errors.ts'
import { parseDuration, parseRate, parseSize, UNIT_PATTERNS } from './units.ts'

const DURATIONS = { ms: 1, s: 1_000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000 }
const SIZES = { B: 1, KB: 1_000, MB: 1e6, GB: 1e9, KiB: 1_024, MiB: 1_024 ** 2, GiB: 1_024 ** 3 }

describe('parseDuration', () => {
  it.each([
    ['250ms', 250],
    ['60s', 60_000],
    ['60 s', 60_000],
    ['1.5m', 90_000],
    ['5min', 300_000],
    ['1h', 3_600_000],
    ['1d', 86_400_000],
    ['1000', 1_000],
    [1_000, 1_000],
    [0.6, 1],
  ])('reads %s as %i milliseconds', (written, expected) => {
    expect(parseDuration(written)).toBe(expected)
  })

  it('refuses other texts and says what is allowed', () => {
    checkEach(
      [
        '',
        's',
        '60x',
        '60S',
        '-1s',
        '+1s',
        '1e3s',
        '1_000',
        '1h30m',
        ' 1s',
        '1s ',
        '0s',
        '0',
        'Infinity',
        '99999999999999999d',
        '0x10',
        '٣s',
      ],
      (written) => {
        expect(() => parseDuration(written)).toThrow(/is not a time\. Use 250ms, 60s, 5m, 1h, 1d/)
      },
    )
  })

  it('refuses numbers that are not a time', () => {
    checkEach([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e21, 0.1], (written) => {
      expect(() => parseDuration(written)).toThrow('is not a time')
    })
  })

  it('is the amount times its unit', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000_000 }),
        fc.constantFrom(...Object.entries(DURATIONS)),
        (amount, [unit, factor]) => {
          expect(parseDuration(`${amount}${unit}`)).toBe(amount * factor)
        },
      ),
    )
  })
})

describe('parseSize', () => {
  it.each([
    ['512B', 512],
    ['30KB', 30_000],
    ['30kb', 30_000],
    ['10MB', 10_000_000],
    ['1GB', 1_000_000_000],
    ['10MiB', 10_485_760],
    ['64 KiB', 65_536],
    ['1.5MB', 1_500_000],
    [5_242_880, 5_242_880],
  ])('reads %s as %i bytes', (written, expected) => {
    expect(parseSize(written)).toBe(expected)
  })

  it('refuses other texts and says what is allowed', () => {
    checkEach(['', 'KB', '10M', '10 TB', '0B', '-5MB', '1,000', '1e6', 'NaN'], (written) => {
      expect(() => parseSize(written)).toThrow(/is not a size\. Use 512B, 30KB, 10MB, 1GB/)
    })
  })

  it('is the amount times its unit, in any case of letters', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100_000 }),
        fc.constantFrom(...Object.entries(SIZES)),
        (amount, [unit, factor]) => {
          expect(parseSize(`${amount}${unit}`)).toBe(amount * factor)
          expect(parseSize(`${amount}${unit.toLowerCase()}`)).toBe(amount * factor)
        },
      ),
    )
  })
})

describe('parseRate', () => {
  it.each([
    ['10/s', { perSecond: 10, burst: 10 }],
    ['100/min', { perSecond: 100 / 60, burst: 100 }],
    ['100 / m', { perSecond: 100 / 60, burst: 100 }],
    ['3600/h', { perSecond: 1, burst: 3_600 }],
    ['0.5/s', { perSecond: 0.5, burst: 1 }],
  ])('reads %s', (written, expected) => {
    expect(parseRate(written)).toEqual(expected)
  })

  it('refuses other texts and says what is allowed', () => {
    checkEach(['', '10', '10/d', '/s', '0/s', '-1/s', '10/s/s', '10 per s'], (written) => {
      expect(() => parseRate(written)).toThrow(/is not a rate\. Use 10\/s, 100\/min, 1000\/h/)
    })
  })
})

describe('any text', () => {
  it('gives a whole number from 1 up or a typed error, and never lets through what the editor pattern refuses', () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^[\d.]{1,4} ?[a-zA-Z]{0,3}$/))
    fc.assert(
      fc.property(text, (written) => {
        for (const [parse, pattern] of [
          [parseDuration, UNIT_PATTERNS.duration],
          [parseSize, UNIT_PATTERNS.size],
        ] as const) {
          const amount = attempt(() => parse(written))
          if (amount === undefined) continue
          expect(Number.isSafeInteger(amount) && amount >= 1).toBe(true)
          expect(written).toMatch(new RegExp(pattern))
        }
      }),
    )
  })
})

function attempt<T>(parse: () => T): T | undefined {
  try {
    return parse()
  } catch (error) {
    expect(ToolError.is(error) && error.code).toBe('CONFIG_INVALID')
    return undefined
  }
}
