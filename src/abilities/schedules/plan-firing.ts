import type { Definition } from './definition.ts'
import { nextTime, passedTimes } from './times.ts'

/** What is to be run now, and when it goes on. */
export interface Plan {
  /** Times to run, oldest first. */
  readonly times: readonly number[]
  /** How many that passed are left out; 100 stands for 100 and more. */
  readonly missed: number
  /** The last time that passed. */
  readonly last: number
  readonly next?: number
}

/** Later than this it was missed: nothing was there to run it. */
export const GRACE_MS = 60_000

/** Decides what becomes of a schedule that was due at `dueAt`, and of all times since. */
export function planFiring(definition: Definition, dueAt: number, now: number): Plan {
  const passed = passedTimes(definition, dueAt, now)
  const last = passed.at(-1)!
  const times = timesOf(definition, passed, now)
  const next = nextTime(definition, Math.max(now, last))
  return { times, missed: passed.length - times.length, last, ...(next !== undefined && { next }) }
}

function timesOf({ missed, jitterMs }: Definition, passed: readonly number[], now: number): readonly number[] {
  const last = passed.slice(-1)
  if (missed === 'all') return passed
  if (missed === 'once') return last
  return now - last[0]! <= GRACE_MS + jitterMs ? last : []
}
