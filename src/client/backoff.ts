const FIRST_MS = 250
const MAX_MS = 15_000

/** How long to wait before trying again: longer every time, and never the same for all who lost one server. */
export function reconnectDelayMs(attempt: number): number {
  const ms = Math.min(MAX_MS, FIRST_MS * 2 ** Math.min(attempt, 10))
  return ms / 2 + (Math.random() * ms) / 2
}

/** Waits, or until the signal aborts. */
export function waitFor(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done, { once: true })
    if (signal?.aborted) done()
  })
}
