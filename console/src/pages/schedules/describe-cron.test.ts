import { describe, expect, it } from 'vitest'
import { describeCron } from './describe-cron.ts'

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
