import type { Clock } from '../../core/index.ts'
import type { Call } from './call.ts'

const SOON_MS = 50

/**
 * Calls without effects that did not come back at once. Most come back soon, and then their end says it all; only
 * those that are still under way after a moment get a line for their start.
 */
export class StartQueue {
  readonly #clock: Clock
  #waiting: Call[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(call: Call, record: (call: Call) => void): void {
    this.#waiting.push(call)
    if (this.#waiting.length === 1) this.#clock.after(SOON_MS, () => this.#recordOpen(record), { background: true })
  }

  #recordOpen(record: (call: Call) => void): void {
    for (const call of this.#waiting.splice(0)) if (!call.ended && !call.started) record(call)
  }
}
