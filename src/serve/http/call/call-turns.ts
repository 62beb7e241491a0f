/**
 * Lets the calls that came in one turn of the event loop start together: then one write to the record serves all of
 * them, which twice as many calls a second are made of (measured with 64 in flight). It costs a lone call nothing but the
 * rest of the turn.
 */
export class CallTurns {
  #next: Promise<void> | undefined

  next(): Promise<void> {
    this.#next ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#next = undefined
        resolve()
      })
    })
    return this.#next
  }
}
