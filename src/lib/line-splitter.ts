/** Cuts a stream of bytes into lines, none longer than allowed; what is left at the end is no line. */
export class LineSplitter {
  readonly #maxBytes: number
  #waiting: Buffer[] = []
  #waitingBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The lines that are whole now; throws a RangeError when one has become too long. */
  push(chunk: Buffer): string[] {
    const lines: string[] = []
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      lines.push(this.#line(chunk.subarray(start, end)))
      start = end + 1
    }
    this.#keep(chunk.subarray(start))
    return lines
  }

  #line(end: Buffer): string {
    const line = (this.#waitingBytes === 0 && end.length <= this.#maxBytes ? end : this.#joined(end)).toString('utf8')
    return line.endsWith('\r') ? line.slice(0, -1) : line
  }

  #joined(end: Buffer): Buffer {
    this.#keep(end)
    const line = Buffer.concat(this.#waiting)
    this.#waiting = []
    this.#waitingBytes = 0
    return line
  }

  #keep(part: Buffer): void {
    if (part.length === 0) return
    this.#waitingBytes += part.length
    if (this.#waitingBytes > this.#maxBytes) {
      this.#waiting = []
      throw new RangeError(`a line has over ${this.#maxBytes} bytes`)
    }
    this.#waiting.push(part)
  }
}
