const DAY_MS = 86_400_000
const MOST_MS = 8.64e15
const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))

let lastDay = Number.NaN
let lastDayText = ''

/**
 * A time of the file system as ISO text; one that no date can hold (a damaged disk) becomes the nearest one. Entries of a
 * listing are often of the same day: putting the rest together is four times faster than `toISOString`, which was a
 * tenth of the whole listing.
 */
export function isoTime(milliseconds: number): string {
  const time = Math.floor(Math.max(-MOST_MS, Math.min(MOST_MS, milliseconds)))
  const day = Math.floor(time / DAY_MS)
  if (day !== lastDay) {
    lastDayText = new Date(Math.max(-MOST_MS, day * DAY_MS)).toISOString().slice(0, -13)
    lastDay = day
  }
  const rest = time - day * DAY_MS
  const hours = TWO_DIGITS[Math.floor(rest / 3_600_000)]
  const minutes = TWO_DIGITS[Math.floor(rest / 60_000) % 60]
  const seconds = TWO_DIGITS[Math.floor(rest / 1_000) % 60]
  return `${lastDayText}${hours}:${minutes}:${seconds}.${String(rest % 1_000).padStart(3, '0')}Z`
}
