const FIRST_BYTES = 4096

/** The last bytes of a stream, at most so many, in a ring: what is pushed is copied, so no chunk is held. */
export class LastBytes {
  readonly #bound: number
  #held = Buffer.alloc(0)
  #total = 0

  constructor(bound: number) {
    this.#bound = bound
  }

  /** How many bytes have ever come. */
  get total(): number {
    return this.#total
  }

  /** More has come than is held. */
  get isCut(): boolean {
    return this.#total > this.#bound
  }

  push(bytes: Uint8Array): void {
    const kept = bytes.length > this.#bound ? bytes.subarray(bytes.length - this.#bound) : bytes
    this.#grow(Math.min(this.#bound, this.#total + bytes.length))
    const at = (this.#total + bytes.length - kept.length) % this.#bound
    const room = this.#bound - at
    this.#held.set(kept.length > room ? kept.subarray(0, room) : kept, at)
    if (kept.length > room) this.#held.set(kept.subarray(room), 0)
    this.#total += bytes.length
  }

  /** A copy of what is held, oldest first. */
  bytes(): Buffer {
    if (this.#total <= this.#bound) return Buffer.from(this.#held.subarray(0, this.#total))
    const at = this.#total % this.#bound
    return Buffer.concat([this.#held.subarray(at), this.#held.subarray(0, at)])
  }

  /** Most commands write little: room is made as it is needed, by doubling. */
  #grow(need: number): void {
    if (need <= this.#held.length) return
    const size = Math.min(this.#bound, Math.max(need, this.#held.length * 2, FIRST_BYTES))
    const held = Buffer.allocUnsafeSlow(size)
    held.set(this.#held.subarray(0, Math.min(this.#total, this.#held.length)))
    this.#held = held
  }
}
