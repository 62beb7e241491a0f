import { expect, it } from 'vitest'
import { formatInZone, formatNear } from './format-in-zone.ts'

it('shows the clock of the zone, counted to 24', () => {
  const at = Date.parse('2026-11-16T18:05:00Z')
  expect(formatNear(at, 'Asia/Tokyo')).toContain('03:05')
  expect(formatInZone(at, 'Europe/Berlin')).toContain('19:05')
  expect(formatInZone(Date.parse('2026-11-16T00:00:00Z'), 'UTC')).toContain('00:00')
})
