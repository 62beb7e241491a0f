/** What is known of a call that a client was given. */
export interface BookedCall {
  readonly tool: string
  readonly run: string
  /** The connection that may answer it. */
  readonly owner: object
  /** Why no answer is wanted any more; none while it waits. */
  readonly end?: string
}

const MOST_ENDED = 10_000

/** The calls that clients of one hub were given, so that a wrong answer can be told from a late one and put on record. */
export class AnswerBook {
  readonly #waiting = new Map<string, BookedCall>()
  /** The latest of them, oldest first. */
  readonly #ended = new Map<string, BookedCall>()

  open(callId: string, call: BookedCall): void {
    this.#waiting.set(callId, call)
  }

  end(callId: string, end: string): void {
    const call = this.#waiting.get(callId)
    if (!call) return
    this.#waiting.delete(callId)
    this.#ended.set(callId, { ...call, end })
    if (this.#ended.size > MOST_ENDED) this.#ended.delete(this.#ended.keys().next().value!)
  }

  find(callId: string): BookedCall | undefined {
    return this.#waiting.get(callId) ?? this.#ended.get(callId)
  }
}

const books = new WeakMap<object, AnswerBook>()

/** The one book of a hub. */
export function answerBookOf(hub: object): AnswerBook {
  const book = books.get(hub) ?? new AnswerBook()
  books.set(hub, book)
  return book
}
