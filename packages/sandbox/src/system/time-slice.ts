import { setImmediate } from 'node:timers/promises'

const SLICE_MS = 5

/** Keeps long work on this thread from blocking other work: it pauses whenever a slice of a few milliseconds is over. */
export class TimeSlice {
  #endsAt = performance.now() + SLICE_MS

  get isOver(): boolean {
    return performance.now() > this.#endsAt
  }

  /** Lets other work run, then begins the next slice. */
  async pause(): Promise<void> {
    await setImmediate()
    this.#endsAt = performance.now() + SLICE_MS
  }
}
