import { expect, it } from 'vitest'
import { formatClock, formatDate, formatExactly } from './format-clock.ts'

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
