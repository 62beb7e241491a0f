import type { LogPage } from '../../../core/index.ts'
import { plainText, upToWholeCharacter } from './output-text.ts'

/** The bytes of a log, which may grow. */
export interface LogSource {
  /** The current number of bytes, counted from the first that still exists. */
  size(): number
  read(offset: number, length: number): Promise<Uint8Array>
  /** Number of lines before the first byte that no longer exist. */
  readonly linesBefore: number
}

const NEWLINE = 10
const BLOCK_BYTES = 65_536
const SCAN_BYTES = 1024 * 1024
const MAX_PAGE_BYTES = 50 * 1024
const MAX_LINES = 2_000

/**
 * Reads pages of lines from a log. The positions of lines are determined on demand: one number per block of 64 KB, and
 * each byte is scanned once, however often the log is read while it grows.
 */
export class LogPages {
  readonly #source: LogSource
  /** How many newlines precede each block. */
  readonly #before: number[] = [0]
  #scanned = 0
  #newlines = 0
  #lastByte = NEWLINE
  #turn: Promise<unknown> = Promise.resolve()

  constructor(source: LogSource) {
    this.#source = source
  }

  /** Complete lines from `offset` on, at most `limit` and 50 KB; without an offset, the last ones. */
  page({ offset, limit = MAX_LINES }: { offset?: number; limit?: number } = {}): Promise<LogPage> {
    // One scan at a time: two would count the same bytes twice.
    const page = this.#turn.then(() => this.#read(offset, clamp(limit, 1, MAX_LINES)))
    this.#turn = page.catch(() => undefined)
    return page
  }

  async #read(offset: number | undefined, limit: number): Promise<LogPage> {
    const size = this.#source.size()
    await this.#scanTo(size)
    const { linesBefore } = this.#source
    const totalLines = linesBefore + this.#newlines + (this.#lastByte === NEWLINE ? 0 : 1)
    const from = clamp(offset ?? totalLines - limit + 1, linesBefore + 1, totalLines + 1)
    const count = Math.min(limit, totalLines - from + 1)
    if (count <= 0) return { text: '', from, to: from - 1, totalLines }
    const start = await this.#startOf(from - linesBefore)
    const { bytes, lines } = await this.#take(start, size, count)
    return { text: plainText(bytes), from, to: from + lines - 1, totalLines }
  }

  async #scanTo(size: number): Promise<void> {
    while (this.#scanned < size) {
      const bytes = await this.#source.read(this.#scanned, Math.min(SCAN_BYTES, size - this.#scanned))
      if (bytes.length === 0) return
      for (let at = 0; at < bytes.length; ) {
        const toBlockEnd = BLOCK_BYTES - (this.#scanned % BLOCK_BYTES)
        const part = bytes.subarray(at, at + toBlockEnd)
        this.#newlines += countNewlines(part)
        this.#scanned += part.length
        at += part.length
        if (part.length === toBlockEnd) this.#before.push(this.#newlines)
      }
      this.#lastByte = bytes.at(-1)!
    }
  }

  /** Where the line with this number begins, counted from 1. */
  async #startOf(line: number): Promise<number> {
    if (line === 1) return 0
    const block = this.#blockOf(line - 1)
    const bytes = await this.#source.read(block * BLOCK_BYTES, BLOCK_BYTES)
    let at = -1
    for (let left = line - 1 - this.#before[block]!; left > 0; left -= 1) at = bytes.indexOf(NEWLINE, at + 1)
    return block * BLOCK_BYTES + at + 1
  }

  /** The block that contains the newline with this number. */
  #blockOf(newline: number): number {
    let low = 0
    let high = this.#before.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (this.#before[middle]! < newline) low = middle
      else high = middle - 1
    }
    return low
  }

  async #take(start: number, size: number, count: number): Promise<{ bytes: string; lines: number }> {
    const maxBytes = Math.min(MAX_PAGE_BYTES, size - start)
    const bytes = Buffer.from(await this.#source.read(start, maxBytes))
    let end = 0
    let lines = 0
    while (lines < count) {
      const lineEnd = bytes.indexOf(NEWLINE, end)
      if (lineEnd === -1) break
      end = lineEnd + 1
      lines += 1
    }
    if (lines < count && start + bytes.length === size && end < bytes.length)
      return { bytes: bytes.toString(), lines: lines + 1 }
    if (lines > 0) return { bytes: bytes.subarray(0, end).toString(), lines }
    return {
      bytes: `${upToWholeCharacter(bytes, bytes.length - 1)} … [the line continues; only its first ${maxBytes} bytes are shown]\n`,
      lines: 1,
    }
  }
}

/** Counts newlines; a plain loop, as short lines would cause many calls of `indexOf`. */
export function countNewlines(bytes: Uint8Array): number {
  let count = 0
  for (let at = 0; at < bytes.length; at += 1) if (bytes[at] === NEWLINE) count += 1
  return count
}

function clamp(value: number, min: number, max: number): number {
  return Math.max(min, Math.min(max, Math.trunc(value) || min))
}
