import type { Clock, Durability, ToolError } from '../../core/index.ts'
import type { AppendFile } from './append-file.ts'

const BEHIND_MS = 100
const RETRY_MS = 1_000
/**
 * With so few calls in flight an end is written immediately: that takes 2 us, waiting for the tick 4 us (measured).
 * With more calls, all ends of a tick share one write, which saves each call 2 us.
 */
const FEW_CALLS = 4

interface ScheduleOptions {
  readonly durability: Durability
  readonly clock: Clock
  readonly onProblem?: (error: ToolError) => void
}

/** Decides when waiting lines are written: immediately, at the end of the tick, or behind. */
export class WriteSchedule {
  readonly #file: AppendFile
  readonly #options: ScheduleOptions
  #isTickRequested = false
  #waiting: { readonly promise: Promise<void>; readonly settle: (problem: ToolError | undefined) => void } | undefined
  #cancelTimer: (() => void) | undefined
  #isProblemTold = false

  constructor(file: AppendFile, options: ScheduleOptions) {
    this.#file = file
    this.#options = options
  }

  /** Requests that waiting lines are written soon. */
  request(): void {
    if (this.#file.isDue) this.#flush()
    else if (this.#options.durability === 'behind') this.#after(BEHIND_MS)
    else this.#requestTick()
  }

  /**
   * Resolves when all lines are in the file. Returns `undefined` if they are already, or nobody should wait for them.
   */
  written(callsInFlight: number): Promise<void> | undefined {
    if (this.#options.durability === 'behind' || !this.#file.hasWaiting) return undefined
    if (callsInFlight <= FEW_CALLS) {
      const problem = this.#flush()
      return problem && Promise.reject(problem)
    }
    this.#requestTick()
    this.#waiting ??= waiting()
    return this.#waiting.promise
  }

  /** Cancels the timer. */
  stop(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  #requestTick(): void {
    if (this.#isTickRequested) return
    this.#isTickRequested = true
    setImmediate(this.#tick)
  }

  readonly #tick = (): void => {
    this.#isTickRequested = false
    const problem = this.#flush()
    this.#waiting?.settle(problem)
    this.#waiting = undefined
  }

  #flush(): ToolError | undefined {
    const problem = this.#file.flush()
    if (problem) {
      this.#after(RETRY_MS)
      if (!this.#isProblemTold) this.#options.onProblem?.(problem)
    }
    this.#isProblemTold = problem !== undefined
    return problem
  }

  #after(ms: number): void {
    this.#cancelTimer ??= this.#options.clock.after(ms, this.#timer, { background: true })
  }

  readonly #timer = (): void => {
    this.#cancelTimer = undefined
    this.#flush()
  }
}

function waiting() {
  let settle: (problem: ToolError | undefined) => void = () => {}
  const promise = new Promise<void>((resolve, reject) => {
    settle = (problem) => (problem ? reject(problem) : resolve())
  })
  return { promise, settle }
}
