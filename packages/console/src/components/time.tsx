import { formatDate, formatDay, formatDuration, formatExactly } from '../lib/format.ts'
import { createValue, useValue } from '../lib/watched-value.ts'

const DAY_MS = 86_400_000

interface TimeProps {
  readonly at: number | string
  /** Shows a date without the time of the day, for narrow columns. */
  readonly isBrief?: boolean
}

/** A time as “12 s ago” or “in 4 min”, or as a date if it is more than a day away; exact in its title. */
export function Time({ at, isBrief = false }: TimeProps) {
  const current = useValue(now)
  const date = new Date(at)
  const time = date.getTime()
  if (Number.isNaN(time)) return <span>unknown</span>
  return (
    <time dateTime={date.toISOString()} title={formatExactly(date)}>
      {inWords(time, current, isBrief ? formatDay : formatDate)}
    </time>
  )
}

function inWords(time: number, current: number, formatFar: (at: number) => string): string {
  const away = current - time
  if (Math.abs(away) < 1_500) return 'now'
  if (Math.abs(away) > DAY_MS) return formatFar(time)
  const words = formatDuration(roughly(Math.abs(away)))
  return away > 0 ? `${words} ago` : `in ${words}`
}

// Without seconds, which would only flicker.
function roughly(ms: number): number {
  if (ms < 60_000) return Math.round(ms / 1_000) * 1_000
  return Math.round(ms / 60_000) * 60_000
}

/** A duration, exact in its title; a dash while it is unknown. */
export function Duration({ ms }: { ms: number | undefined }) {
  if (ms === undefined) return <span title="unknown">–</span>
  return <span title={`${ms.toLocaleString('en')} ms`}>{formatDuration(ms)}</span>
}

/** The current time to the second, for relative times; stops while the tab is hidden. */
export const now = createValue(Date.now())

setInterval(() => {
  if (!document.hidden) now.set(Date.now())
}, 1_000)
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) now.set(Date.now())
})
