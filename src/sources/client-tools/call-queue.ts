import { type ClientCall, ToolError } from '../../core/index.ts'

/** Receives calls, one after the other. */
export type CallListener = (call: ClientCall) => void | Promise<void>

/** Calls for a client, in the order in which they became pending; they wait while nobody listens. */
export class CallQueue {
  #waiting: ClientCall[] = []
  #listener: ((call: ClientCall) => void) | undefined
  /** Wakes the iteration that waits for the next call. */
  #wake: (() => void) | undefined
  #isTaken = false
  #isClosed = false

  push(call: ClientCall): void {
    this.#waiting.push(call)
    this.#deliver()
  }

  /** Passes every call to one listener, waiting ones first. Returns a function that stops it. */
  listen(listener: (call: ClientCall) => void): () => void {
    this.#take()
    this.#listener = listener
    this.#deliver()
    return () => {
      if (this.#listener !== listener) return
      this.#listener = undefined
      this.#isTaken = false
    }
  }

  /** Yields the calls one by one; ends with the connection. */
  async *iterate(): AsyncGenerator<ClientCall, void> {
    this.#take()
    try {
      while (!this.#isClosed) {
        const call = this.#next()
        if (call) yield call
        if (!call) await new Promise<void>((resolve) => (this.#wake = resolve))
      }
    } finally {
      this.#isTaken = false
    }
  }

  close(): void {
    this.#isClosed = true
    this.#waiting = []
    this.#wake?.()
  }

  #deliver(): void {
    this.#wake?.()
    this.#wake = undefined
    while (this.#listener) {
      const call = this.#next()
      if (!call) return
      this.#listener(call)
    }
  }

  /** Skips calls that were aborted while they waited. */
  #next(): ClientCall | undefined {
    let call = this.#waiting.shift()
    while (call?.signal.aborted) call = this.#waiting.shift()
    return call
  }

  #take(): void {
    if (this.#isTaken) {
      throw new ToolError('CONFLICT', 'Somebody takes the calls of this client already.', {
        hint: 'A call has one answer, so it goes to one listener: stop the other first.',
      })
    }
    this.#isTaken = true
  }
}
