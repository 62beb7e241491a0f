interface Link<T> {
  readonly value: T
  before: Link<T> | undefined
  after: Link<T> | undefined
}

/** First in, first out, and anybody may leave from the middle; every step takes the same short time. */
export class Fifo<T> {
  #first: Link<T> | undefined
  #last: Link<T> | undefined

  /** Who is next, without taking it. */
  peek(): T | undefined {
    return this.#first?.value
  }

  /** Takes who is next. */
  shift(): T | undefined {
    const first = this.#first
    if (first) this.#unlink(first)
    return first?.value
  }

  /** Queues a value and gives back how it leaves early. */
  push(value: T): () => void {
    const link: Link<T> = { value, before: this.#last, after: undefined }
    if (this.#last) this.#last.after = link
    else this.#first = link
    this.#last = link
    return () => {
      // A link that was taken has no neighbours left, but it is not the first either.
      if (link.before || this.#first === link) this.#unlink(link)
    }
  }

  #unlink(link: Link<T>): void {
    if (link.before) link.before.after = link.after
    else this.#first = link.after
    if (link.after) link.after.before = link.before
    else this.#last = link.before
    link.before = undefined
    link.after = undefined
  }
}
