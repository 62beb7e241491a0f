import type { CallRow } from './run-calls.ts'

/** A time span, in milliseconds since the epoch. */
export interface TimeSpan {
  readonly from: number
  readonly to: number
}

/** The shortest span that can be shown: a tenth of a millisecond. */
const MIN_SPAN_MS = 0.1
const STEPS = [1, 2, 5] as const

/** From the first start to the last end; running calls end now. */
export function spanOf(rows: readonly Pick<CallRow, 'begin' | 'end'>[], now: number): TimeSpan {
  let from = Number.POSITIVE_INFINITY
  let to = Number.NEGATIVE_INFINITY
  for (const { begin, end } of rows) {
    from = Math.min(from, begin)
    to = Math.max(to, end ?? Math.max(now, begin))
  }
  if (from > to) return { from: 0, to: 1 }
  return { from, to: Math.max(to, from + 1) }
}

/** Zooms in (factor below 1) or out, around the middle or a given time, within the whole span. */
export function zoomSpan(span: TimeSpan, factor: number, whole: TimeSpan, around?: number): TimeSpan {
  const length = Math.max(MIN_SPAN_MS, (span.to - span.from) * factor)
  const center = around ?? (span.from + span.to) / 2
  const part = (center - span.from) / (span.to - span.from)
  return clampSpan({ from: center - part * length, to: center + (1 - part) * length }, whole)
}

/** Moves the span by a part of its length, within the whole span. */
export function moveSpan(span: TimeSpan, part: number, whole: TimeSpan): TimeSpan {
  const by = (span.to - span.from) * part
  return clampSpan({ from: span.from + by, to: span.to + by }, whole)
}

/** Moves or shortens a span so that it is within the whole span. */
export function clampSpan(span: TimeSpan, whole: TimeSpan): TimeSpan {
  const length = Math.max(MIN_SPAN_MS, span.to - span.from)
  if (length >= whole.to - whole.from) return whole
  const from = Math.min(Math.max(span.from, whole.from), whole.to - length)
  return { from, to: from + length }
}

/** Round times in a span, relative to `origin`; at most `most` of them. */
export function ticksOf(span: TimeSpan, origin: number, most: number): number[] {
  const step = stepFor((span.to - span.from) / Math.max(1, most))
  const ticks: number[] = []
  for (let index = Math.ceil((span.from - origin) / step); index * step <= span.to - origin; index += 1) {
    ticks.push(index * step)
    if (ticks.length > most + 1) break
  }
  return ticks
}

/** The next of 1, 2, 5, 10, 20 … that is at least this long; in steps of seconds and minutes above a second. */
function stepFor(least: number): number {
  const clock = [1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000, 1_800_000]
  const whole = clock.find((step) => step >= least)
  if (least > 500 && whole !== undefined) return whole
  const hours = least > 1_800_000 ? 3_600_000 : 1
  const power = 10 ** Math.floor(Math.log10(least / hours))
  return (STEPS.map((step) => step * power).find((step) => step * hours >= least) ?? 10 * power) * hours
}

/** The position of a bar on the axis, in percent of the visible span. */
interface BarPlace {
  readonly from: number
  readonly length: number
  readonly isVisible: boolean
  /** It is not visible because it is later. */
  readonly isAfter: boolean
  /** The side with room for text. */
  readonly wordsAt: 'before' | 'behind' | 'nowhere'
}

/** The bar of a call within the visible span; a running call ends at `end`. */
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

/** After the bar, unless there is more room before it. */
function wordsAt(before: number, behind: number): BarPlace['wordsAt'] {
  if (behind >= 30 || (behind >= before && behind >= 8)) return 'behind'
  return before >= 8 ? 'before' : 'nowhere'
}
