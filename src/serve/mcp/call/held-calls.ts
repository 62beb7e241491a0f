import type { Clock } from '../../../clock.ts'
import type { OngoingCall } from './ongoing-call.ts'

const HOLD_MS = 300_000
const MOST_HELD = 32

interface Held {
  readonly call: OngoingCall
  readonly cancelTimer: () => void
}

/**
 * Calls that wait for a client of the modern era to come back with an answer. The protocol has no state, but a tool
 * that asks in the middle of its work cannot begin again: its call stays here, for at most 5 minutes.
 */
export class HeldCalls {
  readonly #clock: Clock
  readonly #held = new Map<string, Held>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isFull(): boolean {
    return this.#held.size >= MOST_HELD
  }

  /** Keeps a call under the id of its round. When nobody comes for it, its asks are left to the hub's other ways. */
  hold(id: string, call: OngoingCall): void {
    const cancelTimer = this.#clock.after(HOLD_MS, () => this.take(id)?.giveUpAsking(), { background: true })
    this.#held.set(id, { call, cancelTimer })
  }

  /** The call of a round, for the one who comes for it first. */
  take(id: string): OngoingCall | undefined {
    const held = this.#held.get(id)
    this.#held.delete(id)
    held?.cancelTimer()
    return held?.call
  }

  clear(): void {
    for (const id of [...this.#held.keys()]) this.take(id)
  }
}
