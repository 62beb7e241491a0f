/** Time as the hub sees it; tests replace it with `fakeClock()`. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /**
   * Runs `callback` after `ms` and returns how to cancel it. A waiting timer keeps the process alive, so that a
   * call always gets its end, unless it is `background` work nobody waits for.
   */
  after(ms: number, callback: () => void, options?: { readonly background?: boolean }): () => void
}

const MAX_TIMER_MS = 2 ** 31 - 1

/** The machine's own clock. */
export const systemClock: Clock = {
  now: Date.now,
  after(ms, callback, options) {
    const timer = setTimeout(callback, Math.min(ms, MAX_TIMER_MS))
    if (options?.background) timer.unref()
    return () => clearTimeout(timer)
  },
}
