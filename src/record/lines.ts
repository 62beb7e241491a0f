import * as fs from 'node:fs'
import { open } from 'node:fs/promises'

/** A complete line of a file, without its newline. */
export interface Line {
  readonly bytes: Buffer
  /** Where the line ends in the file, behind its newline. */
  readonly end: number
}

const CHUNK_BYTES = 256 * 1024
/** Nothing we write is this long; a file without newlines must not fill the memory. */
const LONGEST_LINE_BYTES = 16 * 1024 * 1024

/** The complete lines of an open file, a chunk at a time, so that memory stays bounded; for opening a run. */
export function* readLinesSync(fd: number, from = 0): Generator<Line> {
  const cutter = new LineCutter(from)
  for (let position = from; ; ) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    const count = fs.readSync(fd, chunk, 0, CHUNK_BYTES, position)
    if (count === 0) return
    position += count
    yield* cutter.cut(chunk.subarray(0, count))
  }
}

/** The complete lines of a file, a chunk's worth at a time. */
export async function* readLines(path: string, from = 0): AsyncGenerator<Line[]> {
  const file = await open(path, 'r')
  try {
    const cutter = new LineCutter(from)
    for (let position = from; ; ) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, position)
      if (bytesRead === 0) return
      position += bytesRead
      yield cutter.cut(buffer.subarray(0, bytesRead))
    }
  } finally {
    await file.close()
  }
}

class LineCutter {
  #carry: Buffer[] = []
  #carried = 0
  #position: number

  constructor(from: number) {
    this.#position = from
  }

  cut(chunk: Buffer): Line[] {
    const lines: Line[] = []
    let start = 0
    for (let newline = chunk.indexOf(10); newline !== -1; newline = chunk.indexOf(10, start)) {
      this.#position += newline + 1 - start
      lines.push({ bytes: this.#complete(chunk.subarray(start, newline)), end: this.#position })
      start = newline + 1
    }
    const rest = chunk.subarray(start)
    this.#position += rest.length
    this.#carry.push(rest)
    this.#carried += rest.length
    if (this.#carried > LONGEST_LINE_BYTES) lines.push({ bytes: this.#complete(Buffer.alloc(0)), end: this.#position })
    return lines
  }

  #complete(last: Buffer): Buffer {
    const line = this.#carried === 0 ? last : Buffer.concat([...this.#carry, last])
    this.#carry = []
    this.#carried = 0
    return line
  }
}
