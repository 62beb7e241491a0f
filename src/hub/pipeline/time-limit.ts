import type { Clock } from '../../core/index.ts'

/** The time that a tool has. It stands still while a person is waited for: the tool can do nothing about that. */
export class TimeLimit {
  readonly #clock: Clock
  #leftMs: number
  /** When it last began to run; undefined while it stands still. */
  #since: number | undefined
  #onOver: (() => void) | undefined
  #cancelTimer: (() => void) | undefined

  constructor(clock: Clock, ms: number) {
    this.#clock = clock
    this.#leftMs = ms
    this.#since = clock.now()
  }

  get leftMs(): number {
    return this.#since === undefined ? this.#leftMs : Math.max(0, this.#leftMs - (this.#clock.now() - this.#since))
  }

  /** Tells when it is over, until `unwatch`. */
  watch(onOver: () => void): void {
    this.#onOver = onOver
    if (this.#since !== undefined) this.#setTimer()
  }

  unwatch(): void {
    this.#onOver = undefined
    this.#cancelTimer?.()
  }

  pause(): void {
    this.#leftMs = this.leftMs
    this.#since = undefined
    this.#cancelTimer?.()
  }

  resume(): void {
    this.#since = this.#clock.now()
    if (this.#onOver) this.#setTimer()
  }

  #setTimer(): void {
    this.#cancelTimer = this.#clock.after(this.leftMs, () => this.#onOver?.())
  }
}
