const NICKNAMES = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
])
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const
const JOINED = new Intl.ListFormat('en', { type: 'conjunction' })

/** The usual cron expressions in words; undefined for one that is clearer as it is written. */
export function describeCron(expression: string): string | undefined {
  const fields = (NICKNAMES.get(expression.trim().toLowerCase()) ?? expression).trim().split(/\s+/)
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields.length === 6 ? fields.slice(1) : fields
  if (fields.length !== 5 && !(fields.length === 6 && fields[0] === '0')) return undefined
  const time = describeTime(minute, hour)
  const days = describeDays(day, month, weekday)
  if (time === undefined || days === undefined) return undefined
  if (days === '') return time.startsWith('at') ? `every day ${time}` : time
  return `${days} ${time}`
}

function describeTime(minute: string, hour: string): string | undefined {
  const minutes = readStep(minute)
  const hours = readStep(hour)
  if (hour === '*' && minutes !== undefined) return minutes === 1 ? 'every minute' : `every ${minutes} minutes`
  if (!/^\d{1,2}$/.test(minute)) return undefined
  const past = minute.padStart(2, '0')
  if (hours === 1) return `every hour at :${past}`
  if (hours !== undefined) return `every ${hours} hours at :${past}`
  if (!/^\d{1,2}(,\d{1,2}){0,3}$/.test(hour)) return undefined
  return `at ${JOINED.format(hour.split(',').map((each) => `${each.padStart(2, '0')}:${past}`))}`
}

function describeDays(day: string, month: string, weekday: string): string | undefined {
  const months = month === '*' ? '' : nameOf(MONTHS, month, 1)
  const isAnyDay = day === '*' || day === '?'
  const isAnyWeekday = weekday === '*' || weekday === '?'
  if (months === undefined || (!isAnyDay && !isAnyWeekday)) return undefined
  if (!isAnyDay) {
    if (!/^\d{1,2}$/.test(day))
      return day.toUpperCase() === 'L' && months === '' ? 'on the last day of the month' : undefined
    return months === '' ? `on day ${Number(day)} of the month` : `on ${months} ${Number(day)}`
  }
  if (isAnyWeekday) return months === '' ? '' : `every day of ${months}`
  const weekdays = describeWeekdays(weekday)
  if (weekdays === undefined) return undefined
  return months === '' ? weekdays : `${weekdays} in ${months}`
}

function describeWeekdays(weekday: string): string | undefined {
  const [from, to, ...rest] = weekday.split('-')
  if (to !== undefined && rest.length === 0) {
    const [first, last] = [nameOf(DAYS, from ?? '', 0), nameOf(DAYS, to, 0)]
    return first === undefined || last === undefined ? undefined : `${first} to ${last}`
  }
  const names = weekday.split(',').map((each) => nameOf(DAYS, each, 0))
  return names.includes(undefined) ? undefined : `every ${JOINED.format(names as string[])}`
}

/** Of `3`, `MON`, `7` for Sunday. */
function nameOf(names: readonly string[], text: string, first: number): string | undefined {
  const isNumber = /^\d{1,2}$/.test(text)
  if (isNumber) return names[(Number(text) - first) % (names.length === 7 ? 7 : Number.POSITIVE_INFINITY)]
  return text.length === 3 ? names.find((name) => name.toLowerCase().startsWith(text.toLowerCase())) : undefined
}

/** 1 for `*`, 15 for the star with `/15`. */
function readStep(field: string): number | undefined {
  if (field === '*') return 1
  const [, step] = /^\*\/(\d{1,2})$/.exec(field) ?? []
  return step === undefined ? undefined : Number(step)
}
