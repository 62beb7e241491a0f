import { expect, it } from 'vitest'
import { formatClock, formatDate, formatExactly, spanLength, startOfDay, TIME_SPANS } from './format.ts'

it('counts the hours to 24 in every form', () => {
  const midnight = new Date(2026, 10, 16, 0, 5)
  const evening = new Date(2026, 10, 16, 17, 5)
  expect(formatClock(midnight)).toBe('00:05')
  expect(formatClock(evening)).toBe('17:05')
  for (const format of [formatDate, formatExactly]) {
    expect(format(midnight)).toContain('00:05')
    expect(format(evening)).toContain('17:05')
    expect(format(evening)).not.toMatch(/[ap]m/i)
  }
})

it('knows how long every span is that can be chosen', () => {
  expect(TIME_SPANS.map(([name]) => spanLength(name) / 3_600_000)).toEqual([0, 1, 24, 168, 720])
  expect(spanLength('unknown')).toBe(0)
})

it('knows when a day begins and ends, also at the end of a month', () => {
  expect(startOfDay('2027-01-31')).toBe(new Date(2027, 0, 31).getTime())
  expect(startOfDay('2027-01-31', 1)).toBe(new Date(2027, 1, 1).getTime())
  for (const nothing of ['', 'soon', '2027-1-31']) expect(startOfDay(nothing)).toBeUndefined()
})
