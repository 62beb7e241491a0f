/** What comes faster or slower than it is read, in order. Whoever stops reading is told to `onStop`. */
export class EventQueue<T> implements AsyncIterableIterator<T, void> {
  readonly #onStop: () => void
  #waiting: T[] = []
  #end: { readonly error?: unknown } | undefined
  #wake: (() => void) | undefined

  constructor(onStop: () => void) {
    this.#onStop = onStop
  }

  push(value: T): void {
    this.#waiting.push(value)
    this.#wake?.()
  }

  end(): void {
    this.#end ??= {}
    this.#wake?.()
  }

  fail(error: unknown): void {
    this.#end ??= { error }
    this.#wake?.()
  }

  async next(): Promise<IteratorResult<T, void>> {
    while (this.#waiting.length === 0 && !this.#end) await new Promise<void>((resolve) => (this.#wake = resolve))
    if (this.#waiting.length > 0) return { done: false, value: this.#waiting.shift()! }
    const { error } = this.#end!
    this.#end = {}
    if (error !== undefined) throw error
    return { done: true, value: undefined }
  }

  async return(): Promise<IteratorResult<T, void>> {
    if (!this.#end) this.#onStop()
    this.#end = {}
    this.#waiting = []
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
