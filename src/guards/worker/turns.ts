import { throwIfAborted } from '../throw-if-aborted.ts'

/** Lets so many work at once; the others wait in the order they came. */
export class Turns {
  readonly #waiting = new Set<() => void>()
  #free: number

  constructor(atOnce: number) {
    this.#free = atOnce
  }

  /** Waits for a turn; one who is stopped leaves the queue at once. Every turn that was taken is to be ended. */
  async take(signal: AbortSignal): Promise<void> {
    throwIfAborted(signal)
    if (this.#free > 0) {
      this.#free--
      return
    }
    const hasTurn = await new Promise<boolean>((resolve) => {
      const leave = (isTurn: boolean): void => {
        this.#waiting.delete(onTurn)
        signal.removeEventListener('abort', onAbort)
        resolve(isTurn)
      }
      const onTurn = (): void => leave(true)
      const onAbort = (): void => leave(false)
      this.#waiting.add(onTurn)
      signal.addEventListener('abort', onAbort, { once: true })
    })
    // Stopped between getting the turn and going on: it goes to the next.
    if (hasTurn && signal.aborted) this.end()
    throwIfAborted(signal)
  }

  /** Ends a turn: the next in the queue has it. */
  end(): void {
    const [next] = this.#waiting
    if (next) next()
    else this.#free++
  }
}
