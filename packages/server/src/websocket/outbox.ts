interface Kept {
  readonly seq: number
  readonly text: string
  readonly mayDrop: boolean
}

/** The messages to one client, in order, each kept until it is acknowledged. */
export class Outbox {
  readonly #most: { readonly messages: number; readonly bytes: number }
  /** Oldest first; those before `#first` are acknowledged, those from `#next` on are not sent. */
  #entries: Kept[] = []
  #first = 0
  #next = 0
  #seq = 0
  #bytes = 0
  /** Number of messages that may not be dropped. */
  #firm = 0
  #firmBytes = 0
  #droppedSeq = 0

  constructor(most: { readonly messages: number; readonly bytes: number }) {
    this.#most = most
  }

  /** Whether a message is kept that may not be dropped. */
  get hasFirm(): boolean {
    return this.#firm > 0
  }

  /** Whether the messages that may not be dropped exceed the limit; nothing new should start then. */
  get isFull(): boolean {
    return this.#firm > this.#most.messages || this.#firmBytes > this.#most.bytes
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Returns the number of the next message. */
  nextSeq(): number {
    return ++this.#seq
  }

  /**
   * Keeps a message. Over the limit, the oldest droppable ones are dropped; returns whether one of them was never sent.
   */
  add(seq: number, text: string, mayDrop: boolean): boolean {
    this.#entries.push({ seq, text, mayDrop })
    this.#count({ seq, text, mayDrop }, 1)
    const size = this.#entries.length - this.#first
    if (size <= this.#most.messages && this.#bytes <= this.#most.bytes) return false
    return size > this.#firm && this.#drop()
  }

  /** Returns the next message to send and marks it as sent. */
  take(): string | undefined {
    const entry = this.#entries[this.#next]
    if (entry) this.#next++
    return entry?.text
  }

  /** Removes sent messages up to `seq`. */
  acknowledge(seq: number): void {
    while (this.#first < this.#next && this.#entries[this.#first]!.seq <= seq) {
      this.#count(this.#entries[this.#first]!, -1)
      this.#first++
    }
    if (this.#first < 256 || this.#first < this.#entries.length / 2) return
    this.#entries = this.#entries.slice(this.#first)
    this.#next -= this.#first
    this.#first = 0
  }

  /** Marks all messages after `received` as unsent; returns whether some were dropped. */
  rewind(received: number): boolean {
    this.acknowledge(received)
    this.#next = this.#first
    return this.#droppedSeq > received
  }

  /** Returns the text of a kept message. */
  find(seq: number): string | undefined {
    return this.#entries[this.#indexOf(seq)]?.text
  }

  /** Removes a message that is no longer needed; returns whether it was sent. */
  withdraw(seq: number): boolean {
    const index = this.#indexOf(seq)
    if (index === -1) return true
    const wasSent = index < this.#next
    this.#count(this.#entries[index]!, -1)
    this.#entries.splice(index, 1)
    if (wasSent) this.#next--
    return wasSent
  }

  /** Whether a message waits to be sent. */
  isUnsent(seq: number): boolean {
    return this.#indexOf(seq) >= this.#next
  }

  /** Drops a quarter, so that a flood does not scan the list for every message. */
  #drop(): boolean {
    const { messages, bytes } = this.#most
    const kept: Kept[] = []
    let size = this.#entries.length - this.#first
    let next = this.#next - this.#first
    let lostUnsent = false
    for (let index = this.#first; index < this.#entries.length; index++) {
      const entry = this.#entries[index]!
      const isOver = size > messages * 0.75 || this.#bytes > bytes * 0.75
      if (!isOver || !entry.mayDrop) {
        kept.push(entry)
        continue
      }
      size--
      this.#count(entry, -1)
      this.#droppedSeq = entry.seq
      if (index < this.#next) next--
      else lostUnsent = true
    }
    this.#entries = kept
    this.#first = 0
    this.#next = next
    return lostUnsent
  }

  #count({ text, mayDrop }: Kept, sign: 1 | -1): void {
    this.#bytes += sign * text.length
    if (mayDrop) return
    this.#firm += sign
    this.#firmBytes += sign * text.length
  }

  /** Binary search: the entries are sorted by number, with gaps. */
  #indexOf(seq: number): number {
    let low = this.#first
    let high = this.#entries.length - 1
    while (low <= high) {
      const middle = (low + high) >> 1
      const found = this.#entries[middle]!.seq
      if (found === seq) return middle
      if (found < seq) low = middle + 1
      else high = middle - 1
    }
    return -1
  }
}
