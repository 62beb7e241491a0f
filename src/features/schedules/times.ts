import { cronOf } from './cron-expression.ts'
import type { When } from './types.ts'

/** All that the times of a schedule follow from. */
export interface Timing {
  readonly when: When
  readonly timeZone: string
  /** When it was made: intervals are counted from there. */
  readonly since: number
  /** Milliseconds since 1970. */
  readonly until?: number
}

/** More times than this that passed are not looked at one by one. */
export const MAX_PASSED = 100
const MINUTE_MS = 60_000
/** A day and what the clocks may add to it: what is narrower than that shows within it. */
const LOOK_AHEAD_MS = 25 * 3_600_000

/** The first time after a moment. */
export function nextTime(timing: Timing, after: number): number | undefined {
  const time = nextOf(timing, after)
  return time === undefined || (timing.until !== undefined && time > timing.until) ? undefined : time
}

/** The times from `first`, which is one, up to a moment; the last 100 of them, oldest first. */
export function passedTimes(timing: Timing, first: number, upTo: number): number[] {
  const times = [first]
  for (;;) {
    const next = nextTime(timing, times.at(-1)!)
    if (next === undefined || next > upTo) return times
    if (times.length === MAX_PASSED) return lastTimes(timing, upTo)
    times.push(next)
  }
}

/** The shortest time between two that follow each other, as far as the next day tells, or the next 100. Whether it is `wanted` is all that matters. */
export function shortestGap(timing: Timing, from: number, wanted = Number.POSITIVE_INFINITY): number {
  const { when } = timing
  if ('everyMs' in when) return when.everyMs
  if ('cron' in when && wanted <= MINUTE_MS && hasOneSecond(when.cron)) return MINUTE_MS
  const first = nextTime(timing, from)
  let [shortest, before] = [Number.POSITIVE_INFINITY, first]
  for (let n = 0; n < MAX_PASSED && before !== undefined && before - first! < LOOK_AHEAD_MS; n++) {
    const next = nextTime(timing, before)
    if (next !== undefined) shortest = Math.min(shortest, next - before)
    before = next
  }
  return shortest
}

/** So that it does not run twice in a minute: five fields, or a plain number before them. */
function hasOneSecond(expression: string): boolean {
  const fields = expression.trim().split(/\s+/)
  return fields.length === 5 || /^\d+$/.test(fields[0]!)
}

function nextOf({ when, timeZone, since }: Timing, after: number): number | undefined {
  if ('cron' in when) return cronOf(when.cron, timeZone).nextRun(new Date(after))?.getTime()
  if ('everyMs' in when) return since + Math.max(1, Math.floor((after - since) / when.everyMs) + 1) * when.everyMs
  const at = Date.parse(when.at)
  return at > after ? at : undefined
}

/** Backwards from a moment: after a year away there may be half a million, and nobody wants to count them. */
function lastTimes({ when, timeZone, since, until = upToEver }: Timing, upTo: number): number[] {
  const end = Math.min(upTo, until)
  if ('cron' in when) {
    // The next second is not counted in; the last one is.
    const times = cronOf(when.cron, timeZone).previousRuns(MAX_PASSED, new Date(end + 1_000))
    return times
      .map((time) => time.getTime())
      .filter((time) => time <= end)
      .reverse()
  }
  if (!('everyMs' in when)) return []
  const last = Math.floor((end - since) / when.everyMs)
  return Array.from({ length: MAX_PASSED }, (_, n) => since + (last - MAX_PASSED + 1 + n) * when.everyMs)
}

const upToEver = Number.MAX_SAFE_INTEGER
