import type { Clock } from '../../core/index.ts'

/** Changes within this time count as one. */
const DEBOUNCE_MS = 200
/** Minimum pause between two refreshes, for servers that report changes without end. */
const REST_MS = 1_000

/** Repeats a task on notification, never twice concurrently and with a minimum pause. */
export class Refresher {
  readonly #clock: Clock
  readonly #work: () => Promise<void>
  #cancel: (() => void) | undefined
  #running: Promise<void> | undefined
  #isWanted = false
  #isClosed = false

  constructor(clock: Clock, work: () => Promise<void>) {
    this.#clock = clock
    this.#work = work
  }

  /** Refreshes after a short delay. */
  soon(): void {
    if (this.#running) this.#isWanted = true
    else this.#plan(DEBOUNCE_MS)
  }

  /** Refreshes now, or joins the refresh under way. */
  now(): Promise<void> {
    this.#running ??= this.#run()
    return this.#running
  }

  /** Refreshes after a delay; resolves when it is done. */
  after(waitMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const cancel = this.#clock.after(
        waitMs,
        () => {
          signal.removeEventListener('abort', stop)
          this.now().then(resolve, resolve)
        },
        { background: true },
      )
      const stop = () => {
        cancel()
        resolve()
      }
      signal.addEventListener('abort', stop)
    })
  }

  close(): void {
    this.#isClosed = true
    this.#cancel?.()
  }

  #plan(ms: number): void {
    if (this.#cancel || this.#isClosed) return
    this.#cancel = this.#clock.after(
      ms,
      () => {
        this.#cancel = undefined
        // A failed refresh keeps the previous tools; the next change tries again.
        this.now().catch(() => {})
      },
      { background: true },
    )
  }

  async #run(): Promise<void> {
    try {
      await this.#work()
    } finally {
      this.#running = undefined
      if (this.#isWanted) this.#plan(REST_MS)
      this.#isWanted = false
    }
  }
}
