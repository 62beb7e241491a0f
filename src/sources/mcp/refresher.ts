import type { Clock } from '../../core/index.ts'

/** Changes that come together are one. */
const DEBOUNCE_MS = 200
/** A server that tells of changes without end is not asked without end. */
const REST_MS = 1_000

/** Does something again when it is notified to, but never twice concurrently and not all the time. */
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

  /** In a moment. */
  soon(): void {
    if (this.#running) this.#isWanted = true
    else this.#plan(DEBOUNCE_MS)
  }

  /** Now, or with the one that continues. */
  now(): Promise<void> {
    this.#running ??= this.#run()
    return this.#running
  }

  /** After a while; settles when it is done. */
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
        // What fails keeps what was there; the next change tries again.
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
