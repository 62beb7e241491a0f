import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isoTime } from './iso-time.ts'

it('writes every time that a date can hold as a date would', () => {
  fc.assert(
    fc.property(fc.integer({ min: -8.64e15, max: 8.64e15 }), (time) => {
      expect(isoTime(time)).toBe(new Date(time).toISOString())
    }),
  )
})

it('cuts fractions, as a date does, before 1970 too, and holds on to the ends of time', () => {
  expect(isoTime(1_700_000_000_123.9)).toBe('2023-11-14T22:13:20.123Z')
  expect(isoTime(-0.5)).toBe('1969-12-31T23:59:59.999Z')
  expect(isoTime(1e300)).toBe('+275760-09-13T00:00:00.000Z')
})
