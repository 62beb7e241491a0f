import { type Clock, type HeadStore, messageOf, ToolError } from '@tool-hub/core'
import type { ChainLink } from './event-line.ts'

/** The head of a growing run is in the store after this time at the latest. */
const KEEP_MS = 2_000

/** The run whose heads are kept. */
interface KeptRun {
  readonly run: string
  /** Hash of the line that opened it. */
  readonly opening: string
  /** The last line before that one. */
  readonly continues: ChainLink
  readonly clock: Clock
  /** Makes everything appended so far durable: the store must never know more than the record. */
  readonly synced: () => Promise<void>
  readonly last: () => ChainLink
  readonly onProblem?: (error: ToolError) => void
}

/** Writes the head of an open run to the store: two seconds after a line at the latest, and when the run is closed. */
export class HeadKeeper {
  readonly #heads: Pick<HeadStore, 'put'>
  readonly #run: KeptRun
  /** Whether the head is going to be written. A field, because every call looks at it. */
  isRequested = false
  #cancel: (() => void) | undefined
  #keeping: Promise<void> | undefined
  #isClosed = false
  #keptSeq = 0
  #isProblemTold = false

  constructor(heads: Pick<HeadStore, 'put'>, run: KeptRun) {
    this.#heads = heads
    this.#run = run
  }

  /** Call this when the run has grown, unless it `isRequested`. */
  request(): void {
    if (this.isRequested || this.#isClosed) return
    this.isRequested = true
    this.#cancel = this.#run.clock.after(KEEP_MS, this.#timer, { background: true })
  }

  /** Writes the head of a run that is closed. Never rejects: the record itself is complete. */
  async close(): Promise<void> {
    this.stop()
    await this.#keeping
    await this.#keep()
  }

  /** Cancels the timer. */
  stop(): void {
    this.#isClosed = true
    this.#cancel?.()
  }

  readonly #timer = (): void => {
    this.#keeping = this.#keep().finally(() => {
      this.#keeping = undefined
      this.isRequested = false
      if (this.#run.last().seq > this.#keptSeq) this.request()
    })
  }

  async #keep(): Promise<void> {
    const { run, opening, continues, clock, synced, last } = this.#run
    const { seq, hash } = last()
    try {
      await synced()
      await this.#heads.put({ run, opening, seq, hash, at: clock.now() }, continues)
      this.#keptSeq = seq
      this.#isProblemTold = false
    } catch (error) {
      if (!this.#isProblemTold) this.#run.onProblem?.(problem(run, error))
      this.#isProblemTold = true
    }
  }
}

function problem(run: string, cause: unknown): ToolError {
  return new ToolError(
    'RECORDS_UNAVAILABLE',
    `The store does not take the head of run ${run}, so that its end cannot be proven: ${messageOf(cause)}`,
    { hint: 'See tool-hub doctor for the state of the store.', cause },
  )
}
