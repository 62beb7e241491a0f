import { escapeText } from '../../value/escape-text.ts'

/** The last of what a program wrote, for messages about it. */
export class OutputTail {
  readonly #maxBytes: number
  #chunks: Buffer[] = []
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk.subarray(-this.#maxBytes))
    this.#bytes += Math.min(chunk.length, this.#maxBytes)
    while (this.#bytes - this.#chunks[0]!.length >= this.#maxBytes) this.#bytes -= this.#chunks.shift()!.length
    // Many small pieces would cost more than their bytes.
    if (this.#chunks.length > MOST_CHUNKS) this.#chunks = [Buffer.concat(this.#chunks)]
  }

  /** Its last lines, with nothing that could drive a terminal. */
  lastLines(most: number, mostChars: number): string {
    const text = Buffer.concat(this.#chunks).subarray(-this.#maxBytes).toString('utf8')
    const lines = text.replaceAll(COLOURS, '').replaceAll('\r\n', '\n').trimEnd().split('\n').slice(-most)
    return escapeText(lines.join('\n').slice(-mostChars))
  }
}

const MOST_CHUNKS = 256
const COLOURS = /\u{1b}\[[0-9;]*m/gu
