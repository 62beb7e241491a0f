import type { CallRow } from './layout-calls.ts'
import type { TimeSpan } from './time-span.ts'

/** Where the bar of a call is on the axis, in percent of what is seen. */
interface BarPlace {
  readonly from: number
  readonly length: number
  readonly isVisible: boolean
  /** Not seen because it is later. */
  readonly isAfter: boolean
  /** On which side there is room for words. */
  readonly wordsAt: 'before' | 'behind' | 'nowhere'
}

/** Places a call on the part of the time that is seen; what runs goes until `end`. */
export function placeBar(row: Pick<CallRow, 'begin' | 'end'>, { from, to }: TimeSpan, end: number): BarPlace {
  const stop = Math.max(row.begin, row.end ?? end)
  const isVisible = row.begin <= to && stop >= from
  const percent = (time: number) => Math.min(100, Math.max(0, ((time - from) / (to - from)) * 100))
  const start = percent(row.begin)
  const rest = 100 - percent(stop)
  return {
    from: start,
    length: percent(stop) - start,
    isVisible,
    isAfter: row.begin > to,
    wordsAt: wordsAt(start, rest),
  }
}

/** Behind the bar, unless there is little room there and more before it. */
function wordsAt(before: number, behind: number): BarPlace['wordsAt'] {
  if (behind >= 30 || (behind >= before && behind >= 8)) return 'behind'
  return before >= 8 ? 'before' : 'nowhere'
}
