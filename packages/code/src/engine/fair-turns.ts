/**
 * Who gets the next worker. Principals take turns, and each starts a script only while more workers are free than it has:
 * alone it has at most half of them, rounded up, and the next principal finds one. The owner of the hub, who has no
 * principal, may have all of them.
 */
export class FairTurns {
  /** Those who wait, by principal; the first key has its turn next. */
  readonly #waiting = new Map<string | undefined, Set<() => void>>()
  readonly #held = new Map<string | undefined, number>()
  readonly #onWaiting: () => void
  #free: number

  /** `onWaiting` is called when somebody has to wait. */
  constructor(count: number, onWaiting: () => void) {
    this.#free = count
    this.#onWaiting = onWaiting
  }

  /** Waits for a turn. Returns `false` if the signal aborts first; otherwise the turn must be ended. */
  async take(principal: string | undefined, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false
    if (this.#mayTake(principal)) {
      this.#start(principal)
      return true
    }
    const hasTurn = await this.#wait(principal, signal)
    if (hasTurn && signal.aborted) this.end(principal)
    return hasTurn && !signal.aborted
  }

  /** Ends a turn, and starts those that have become possible. */
  end(principal: string | undefined): void {
    const held = this.#heldBy(principal) - 1
    if (held > 0) this.#held.set(principal, held)
    else this.#held.delete(principal)
    this.#free++
    this.#startNext()
  }

  /** Whether somebody who waits would get the turn that this principal ends: one of its own scripts, or anybody if all are taken. */
  isWanted(principal: string | undefined): boolean {
    for (const waiting of this.#waiting.keys()) {
      if (waiting !== principal && this.#free > 0) continue
      const held = this.#heldBy(waiting) - (waiting === principal ? 1 : 0)
      if (hasShare(waiting, held, this.#free + 1)) return true
    }
    return false
  }

  #heldBy(principal: string | undefined): number {
    return this.#held.get(principal) ?? 0
  }

  #mayTake(principal: string | undefined): boolean {
    return hasShare(principal, this.#heldBy(principal), this.#free)
  }

  #start(principal: string | undefined): void {
    this.#free--
    this.#held.set(principal, this.#heldBy(principal) + 1)
  }

  #startNext(): void {
    for (const [principal, own] of this.#waiting) {
      if (!this.#mayTake(principal)) continue
      const [wake] = own
      this.#start(principal)
      // Its principal moves behind the others, where this loop meets it again.
      this.#waiting.delete(principal)
      this.#waiting.set(principal, own)
      wake!()
    }
  }

  #wait(principal: string | undefined, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const own = this.#waiting.get(principal) ?? new Set()
      const leave = (hasTurn: boolean): void => {
        own.delete(onTurn)
        if (own.size === 0) this.#waiting.delete(principal)
        signal.removeEventListener('abort', onAbort)
        resolve(hasTurn)
      }
      const onTurn = (): void => leave(true)
      const onAbort = (): void => leave(false)
      this.#waiting.set(principal, own.add(onTurn))
      signal.addEventListener('abort', onAbort, { once: true })
      this.#onWaiting()
    })
  }
}

function hasShare(principal: string | undefined, held: number, free: number): boolean {
  return free > 0 && (principal === undefined || held === 0 || held < free)
}
