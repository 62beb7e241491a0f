/** A time as the clocks of a zone show it; as those of this machine where the browser does not know the zone. */
export function formatInZone(at: number, timeZone: string): string {
  return formatFor(timeZone, 'whole').format(at)
}

/** The same of one within a day: its weekday and hour are enough. */
export function formatNear(at: number, timeZone: string): string {
  return formatFor(timeZone, 'near').format(at)
}

/** The same as a date field has it: `2027-01-31T09:00`. */
export function toDateField(at: number, timeZone: string): string {
  const parts = new Map(
    fieldsFor(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  )
  const get = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? ''
  return `${get('year')}-${get('month')}-${get('day')}T${get('hour')}:${get('minute')}`
}

const SHAPES = {
  whole: { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' },
  near: { weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
} as const
const formats = new Map<string, Intl.DateTimeFormat>()

// Made once a zone: a format costs more than all the rest of a row.
function formatFor(timeZone: string, shape: keyof typeof SHAPES): Intl.DateTimeFormat {
  const key = `${shape} ${timeZone}`
  const known = formats.get(key)
  if (known) return known
  const format = make(SHAPES[shape], timeZone)
  formats.set(key, format)
  return format
}

function fieldsFor(timeZone: string): Intl.DateTimeFormat {
  const two = '2-digit'
  return make({ year: 'numeric', month: two, day: two, hour: two, minute: two, hourCycle: 'h23' }, timeZone, 'en')
}

function make(shape: Intl.DateTimeFormatOptions, timeZone: string, locale?: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat(locale, { ...shape, timeZone })
  } catch {
    // The service knows a zone that this browser does not.
    return new Intl.DateTimeFormat(locale, shape)
  }
}
