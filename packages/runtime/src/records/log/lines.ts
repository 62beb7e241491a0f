import * as fs from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { promisify } from 'node:util'
import { openRegular } from '@tool-hub/sandbox/system'
import { type ChainLink, inspectLine } from './event-line.ts'

/** A complete line of a file, without its newline. */
export interface Line {
  readonly bytes: Buffer
  /** Where the line ends in the file, after its newline. */
  readonly end: number
}

const CHUNK_BYTES = 256 * 1024

const read = promisify(fs.read)
const write = promisify(fs.write)
/** Longer than any line we write; a file without newlines must not fill the memory. */
const MAX_LINE_BYTES = 16 * 1024 * 1024

/** Yields the complete lines of an open file, in bounded memory; for opening a run. */
export function* readLinesSync(fd: number, from = 0, chunkBytes = CHUNK_BYTES): Generator<Line> {
  const cutter = new LineCutter(from)
  for (let position = from; ; ) {
    const chunk = Buffer.allocUnsafe(chunkBytes)
    const count = fs.readSync(fd, chunk, 0, chunkBytes, position)
    if (count === 0) return
    position += count
    yield* cutter.cut(chunk.subarray(0, count))
  }
}

/** Yields the complete lines of a file, one chunk at a time. */
export async function* readRecordLines(path: string, from = 0): AsyncGenerator<Line[]> {
  const reader = await LineReader.open(path, from)
  try {
    for (let lines = await reader.next(); lines; lines = await reader.next()) yield lines
  } finally {
    await reader.close()
  }
}

/** Reads a file that may grow: its complete lines, one chunk at a time, and the text after the last of them. */
export class LineReader {
  readonly #file: FileHandle
  readonly #cutter: LineCutter
  readonly #end: number
  #position: number

  private constructor(file: FileHandle, from: number, end: number) {
    this.#file = file
    this.#cutter = new LineCutter(from)
    this.#position = from
    this.#end = end
  }

  /** Opens a file; with `asOfNow`, what is appended later is not read. */
  static async open(path: string, from = 0, { asOfNow = false } = {}): Promise<LineReader> {
    const file = await openRegular(path)
    return new LineReader(file, from, asOfNow ? (await file.stat()).size : Number.POSITIVE_INFINITY)
  }

  /** Returns the lines that the next chunk completes, possibly none, or `undefined` at the end. */
  async next(): Promise<Line[] | undefined> {
    const most = Math.min(CHUNK_BYTES, this.#end - this.#position)
    if (most <= 0) return undefined
    const { bytesRead, buffer } = await this.#file.read(Buffer.allocUnsafe(most), 0, most, this.#position)
    if (bytesRead === 0) return undefined
    this.#position += bytesRead
    return this.#cutter.cut(buffer.subarray(0, bytesRead))
  }

  /** The text after the last newline. */
  get rest(): Buffer {
    return this.#cutter.rest
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}

/** Cuts chunks of a file into its complete lines. */
export class LineCutter {
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
    if (this.#carried > MAX_LINE_BYTES) lines.push({ bytes: this.#complete(Buffer.alloc(0)), end: this.#position })
    return lines
  }

  get rest(): Buffer {
    return Buffer.concat(this.#carry)
  }

  #complete(last: Buffer): Buffer {
    const line = this.#carried === 0 ? last : Buffer.concat([...this.#carry, last])
    this.#carry = []
    this.#carried = 0
    return line
  }
}

/**
 * Writes a part of a record to its place once more, so that the next sync stores it again. Returns false if that part does
 * not consist of whole lines that follow each other as they were written: then something is lost.
 */
export async function rewriteLines(
  fd: number,
  { start, end }: { readonly start: number; readonly end: number },
): Promise<boolean> {
  const cutter = new LineCutter(start)
  let last: ChainLink | undefined
  for (let position = start; position < end; ) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, end - position))
    const { bytesRead } = await read(fd, chunk, 0, chunk.length, position)
    if (bytesRead === 0) return false
    const bytes = chunk.subarray(0, bytesRead)
    for (const line of cutter.cut(bytes)) {
      const facts = inspectLine(line.bytes)
      if (!facts?.intact) return false
      if (last && (facts.seq !== last.seq + 1 || facts.prev !== last.hash)) return false
      last = facts
    }
    await writeAll(fd, bytes, position)
    position += bytesRead
  }
  return cutter.rest.length === 0
}

async function writeAll(fd: number, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await write(fd, bytes, done, bytes.length - done, position + done)
    if (bytesWritten === 0) throw new Error('The disk took nothing.')
    done += bytesWritten
  }
}
