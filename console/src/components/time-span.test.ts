import { expect, it } from 'vitest'
import { spanLength, startOfDay, TIME_SPANS } from './time-span.ts'

it('knows how long every span is that can be chosen', () => {
  expect(TIME_SPANS.map(([name]) => spanLength(name) / 3_600_000)).toEqual([0, 1, 24, 168, 720])
  expect(spanLength('unknown')).toBe(0)
})

it('knows when a day begins and ends, also at the end of a month', () => {
  expect(startOfDay('2027-01-31')).toBe(new Date(2027, 0, 31).getTime())
  expect(startOfDay('2027-01-31', 1)).toBe(new Date(2027, 1, 1).getTime())
  for (const nothing of ['', 'soon', '2027-1-31']) expect(startOfDay(nothing)).toBeUndefined()
})
