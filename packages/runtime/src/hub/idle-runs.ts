import type { Clock } from '@tool-hub/core'
import { descriptorLimit } from '@tool-hub/sandbox/system'

/** A run is released after one to two of these intervals without a call. */
const CHECK_MS = 30_000
/** The number of runs that may always be open with their records. */
const MIN_HELD = 16
/** File descriptors per run. Records use at most a quarter of all descriptors, workspaces and deliverables an eighth. */
const FILES_OF_RECORDS = 3
const FOLDERS_OF_RUN = 2
const MAX_OPEN = 256

/** An open run, whose records hold file descriptors until they are released. */
export interface ReleasableRun {
  readonly inFlight: number
  /** Whether the run was used since the last check. */
  isActive: boolean
  isReleased: boolean
  /** Closes the descriptors of its records; the next event opens them again. */
  release(): void
}

/** Releases the records of idle runs after about a minute, or sooner if too many are open. */
export class IdleRuns {
  readonly #clock: Clock
  /** In order of last use. */
  readonly #runs: () => Iterable<ReleasableRun>
  readonly #descriptors: () => number
  #limits: { readonly held: number; readonly open: number } | undefined
  #cancel: (() => void) | undefined

  constructor(clock: Clock, runs: () => Iterable<ReleasableRun>, descriptors = descriptorLimit) {
    this.#clock = clock
    this.#runs = runs
    this.#descriptors = descriptors
  }

  /** Returns whether a hub with this many open runs should close one before it opens another. */
  isFull(open: number): boolean {
    return open >= MIN_HELD && open >= this.#max.open
  }

  /** Called when a run has been opened, or is used again after it was released. */
  add(run: ReleasableRun): void {
    run.isActive = true
    run.isReleased = false
    this.#makeRoom(run)
    this.#cancel ??= this.#checkLater()
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  #makeRoom(wanted: ReleasableRun): void {
    const held = [...this.#runs()].filter((run) => run !== wanted && !run.isReleased)
    if (held.length < MIN_HELD) return
    const tooMany = held.length + 1 - this.#max.held
    if (tooMany <= 0) return
    const idle = held.filter(({ inFlight }) => inFlight === 0)
    for (const run of idle.slice(0, tooMany)) run.release()
  }

  /** Computed only if there are many runs: most hubs have one. */
  get #max() {
    const descriptors = this.#limits ? 0 : this.#descriptors()
    this.#limits ??= {
      held: Math.max(MIN_HELD, Math.floor(descriptors / (4 * FILES_OF_RECORDS))),
      open: Math.min(MAX_OPEN, Math.max(MIN_HELD, Math.floor(descriptors / (8 * FOLDERS_OF_RUN)))),
    }
    return this.#limits
  }

  #checkLater(): () => void {
    return this.#clock.after(CHECK_MS, () => this.#check(), { background: true })
  }

  #check(): void {
    this.#cancel = undefined
    let hasHeld = false
    for (const run of this.#runs()) {
      if (run.isReleased) continue
      if (!run.isActive && run.inFlight === 0) {
        run.release()
        continue
      }
      run.isActive = run.inFlight > 0
      hasHeld = true
    }
    if (hasHeld) this.#cancel = this.#checkLater()
  }
}
