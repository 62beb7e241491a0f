import { useValue } from '../state/create-value.ts'
import { formatDate, formatExactly } from './format-clock.ts'
import { formatDuration } from './format-duration.ts'
import { now } from './now.ts'

const DAY_MS = 86_400_000

/** When something was or will be, as “12 s ago” or “in 4 min”, then a date; exact in its title. */
export function Time({ at }: { at: number | string }) {
  const current = useValue(now)
  const date = new Date(at)
  const time = date.getTime()
  if (Number.isNaN(time)) return <span>unknown</span>
  return (
    <time dateTime={date.toISOString()} title={formatExactly(date)}>
      {inWords(time, current)}
    </time>
  )
}

function inWords(time: number, current: number): string {
  const away = current - time
  if (Math.abs(away) < 1_500) return 'now'
  if (Math.abs(away) > DAY_MS) return formatDate(time)
  const words = formatDuration(roughly(Math.abs(away)))
  return away > 0 ? `${words} ago` : `in ${words}`
}

// “4 min ago” is enough: seconds would only flicker.
function roughly(ms: number): number {
  if (ms < 60_000) return Math.round(ms / 1_000) * 1_000
  return Math.round(ms / 60_000) * 60_000
}
