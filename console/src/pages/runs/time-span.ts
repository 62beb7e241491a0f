import type { CallRow } from './layout-calls.ts'

/** A part of the time of a run, in milliseconds since the epoch. */
export interface TimeSpan {
  readonly from: number
  readonly to: number
}

/** The least time that can be looked at: a tenth of a millisecond. */
const SHORTEST_MS = 0.1
const STEPS = [1, 2, 5] as const

/** From the first start to the last end; what runs goes on until now. */
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

/** Closer (below 1) or further away, around the middle or a given time, never outside of the whole. */
export function zoomSpan(span: TimeSpan, factor: number, whole: TimeSpan, around?: number): TimeSpan {
  const length = Math.max(SHORTEST_MS, (span.to - span.from) * factor)
  const center = around ?? (span.from + span.to) / 2
  const part = (center - span.from) / (span.to - span.from)
  return clampSpan({ from: center - part * length, to: center + (1 - part) * length }, whole)
}

/** Aside by a part of what is seen; stops at the ends of the whole. */
export function moveSpan(span: TimeSpan, part: number, whole: TimeSpan): TimeSpan {
  const by = (span.to - span.from) * part
  return clampSpan({ from: span.from + by, to: span.to + by }, whole)
}

/** A span moved or cut so that it is within the whole. */
export function clampSpan(span: TimeSpan, whole: TimeSpan): TimeSpan {
  const length = Math.max(SHORTEST_MS, span.to - span.from)
  if (length >= whole.to - whole.from) return whole
  const from = Math.min(Math.max(span.from, whole.from), whole.to - length)
  return { from, to: from + length }
}

/** Round times in a span, counted from `origin`, at most `most` of them. */
export function ticksOf(span: TimeSpan, origin: number, most: number): number[] {
  const step = stepFor((span.to - span.from) / Math.max(1, most))
  const ticks: number[] = []
  for (let index = Math.ceil((span.from - origin) / step); index * step <= span.to - origin; index += 1) {
    ticks.push(index * step)
    if (ticks.length > most + 1) break
  }
  return ticks
}

/** The next of 1, 2, 5, 10, 20 … that is at least so much; seconds and minutes above a second. */
function stepFor(least: number): number {
  const clock = [1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000, 1_800_000]
  const whole = clock.find((step) => step >= least)
  if (least > 500 && whole !== undefined) return whole
  const hours = least > 1_800_000 ? 3_600_000 : 1
  const power = 10 ** Math.floor(Math.log10(least / hours))
  return (STEPS.map((step) => step * power).find((step) => step * hours >= least) ?? 10 * power) * hours
}
