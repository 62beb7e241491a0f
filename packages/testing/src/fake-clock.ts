import type { Clock } from '@tool-hub/core'

/** A clock that stands still until a test moves it. */
export interface FakeClock extends Clock {
  /** Moves time on; timers that fall due run in their order, with what they awaited settled between them. */
  advance(ms: number): Promise<void>
  /** How many timers wait. */
  readonly waiting: number
}

/** Makes a clock for tests; it starts on a fixed day, so that results are the same every time. */
export function fakeClock(start = Date.UTC(2026, 0, 1)): FakeClock {
  let now = start
  let nextId = 0
  const timers = new Map<number, { at: number; callback: () => void }>()
  const nextDue = (until: number) => {
    const due = [...timers].filter(([, { at }]) => at <= until).sort(([a, x], [b, y]) => x.at - y.at || a - b)
    return due[0]
  }
  return {
    now: () => now,
    after(ms, callback) {
      const id = nextId++
      timers.set(id, { at: now + Math.max(0, ms), callback })
      return () => timers.delete(id)
    },
    async advance(ms) {
      const until = now + ms
      await settleMicrotasks()
      for (let due = nextDue(until); due; due = nextDue(until)) {
        const [id, { at, callback }] = due
        timers.delete(id)
        now = Math.max(now, at)
        callback()
        await settleMicrotasks()
      }
      now = until
    },
    get waiting() {
      return timers.size
    },
  }
}

/**
 * Lets promises that are already settled run their continuations, also those behind real I/O callbacks of this turn.
 */
function settleMicrotasks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
