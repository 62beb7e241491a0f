import { describe, expect, it } from 'vitest'
import { describeCron, formatInZone, formatNear, tellingArgument } from './describe.ts'

describe('a cron expression in words', () => {
  it.each([
    ['* * * * *', 'every minute'],
    ['*/15 * * * *', 'every 15 minutes'],
    ['5 * * * *', 'every hour at :05'],
    ['0 */6 * * *', 'every 6 hours at :00'],
    ['30 9 * * *', 'every day at 09:30'],
    ['0 9,17 * * 1-5', 'Monday to Friday at 09:00 and 17:00'],
    ['0 9 * * MON-FRI', 'Monday to Friday at 09:00'],
    ['0 8 * * 6,7', 'every Saturday and Sunday at 08:00'],
    ['0 0 1 * *', 'on day 1 of the month at 00:00'],
    ['0 0 L * *', 'on the last day of the month at 00:00'],
    ['15 6 24 12 *', 'on December 24 at 06:15'],
    ['0 7 * JAN 1', 'every Monday in January at 07:00'],
    ['0 30 9 * * *', 'every day at 09:30'],
    ['@daily', 'every day at 00:00'],
  ])('%s is %s', (expression, words) => {
    expect(describeCron(expression)).toBe(words)
  })

  it.each(['1-5 9 * * *', '0 9 1 * 1', '30 0 9 * * *', '0 9 * * 1#2', 'nonsense', '', '0 9 * 13 *'])(
    'leaves %s as it is written',
    (expression) => {
      expect(describeCron(expression)).toBeUndefined()
    },
  )
})

it('picks the argument that says most about a call', () => {
  expect(tellingArgument({ cwd: 'src', command: 'npm test\n --silent' })).toBe('npm test --silent')
  expect(tellingArgument({ channel: 'console', text: 'Standup in 15 minutes.' })).toBe('Standup in 15 minutes.')
  expect(tellingArgument({ limit: 5, city: 'Oslo' })).toBe('city: Oslo')
  expect(tellingArgument({ limit: 5 })).toBe('limit: 5')
  expect(tellingArgument([1, 2])).toBe('[1,2]')
})

it('has nothing to say about a call without arguments, and cuts long ones', () => {
  for (const none of [undefined, null, {}, { path: undefined }]) expect(tellingArgument(none)).toBeUndefined()
  expect(tellingArgument({ text: 'x'.repeat(400) })).toHaveLength(301)
})

it('shows the clock of the zone, counted to 24', () => {
  const at = Date.parse('2026-11-16T18:05:00Z')
  expect(formatNear(at, 'Asia/Tokyo')).toContain('03:05')
  expect(formatInZone(at, 'Europe/Berlin')).toContain('19:05')
  expect(formatInZone(Date.parse('2026-11-16T00:00:00Z'), 'UTC')).toContain('00:00')
})
