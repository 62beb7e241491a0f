import type { LogPage } from '../../../contracts/commands.ts'
import { plainText } from './plain-text.ts'
import { upToWholeCharacter } from './whole-parts.ts'

/** Where the bytes of a log are; it may grow. */
export interface LogSource {
  /** How many there are now, counted from the first that is still there. */
  size(): number
  read(offset: number, length: number): Promise<Uint8Array>
  /** Lines that are gone before the first byte. */
  readonly linesBefore: number
}

const LINE_END = 10
const BLOCK_BYTES = 65_536
const SCAN_BYTES = 1024 * 1024
const MOST_PAGE_BYTES = 50 * 1024
const MOST_LINES = 2_000

/**
 * Pages of lines out of a log. Where lines are is found out only when somebody asks: a number a block of 64 KB, and each
 * byte is looked at once, however often the log is read while it grows.
 */
export class LogPages {
  readonly #source: LogSource
  /** How many line ends stand before each block. */
  readonly #before: number[] = [0]
  #scanned = 0
  #lineEnds = 0
  #lastByte = LINE_END
  #turn: Promise<unknown> = Promise.resolve()

  constructor(source: LogSource) {
    this.#source = source
  }

  /** Whole lines from `offset` on, at most `limit` and 50 KB; without an offset the last ones. */
  page({ offset, limit = MOST_LINES }: { offset?: number; limit?: number } = {}): Promise<LogPage> {
    // One scan at a time: two would count the same bytes twice.
    const page = this.#turn.then(() => this.#read(offset, clamp(limit, 1, MOST_LINES)))
    this.#turn = page.catch(() => undefined)
    return page
  }

  async #read(offset: number | undefined, limit: number): Promise<LogPage> {
    const size = this.#source.size()
    await this.#scanTo(size)
    const { linesBefore } = this.#source
    const totalLines = linesBefore + this.#lineEnds + (this.#lastByte === LINE_END ? 0 : 1)
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
        this.#lineEnds += countLineEnds(part)
        this.#scanned += part.length
        at += part.length
        if (part.length === toBlockEnd) this.#before.push(this.#lineEnds)
      }
      this.#lastByte = bytes.at(-1)!
    }
  }

  /** Where the line of that number begins, counted from 1. */
  async #startOf(line: number): Promise<number> {
    if (line === 1) return 0
    const block = this.#blockOf(line - 1)
    const bytes = await this.#source.read(block * BLOCK_BYTES, BLOCK_BYTES)
    let at = -1
    for (let left = line - 1 - this.#before[block]!; left > 0; left -= 1) at = bytes.indexOf(LINE_END, at + 1)
    return block * BLOCK_BYTES + at + 1
  }

  /** The block that holds the line end of that number. */
  #blockOf(lineEnd: number): number {
    let low = 0
    let high = this.#before.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (this.#before[middle]! < lineEnd) low = middle
      else high = middle - 1
    }
    return low
  }

  async #take(start: number, size: number, count: number): Promise<{ bytes: string; lines: number }> {
    const most = Math.min(MOST_PAGE_BYTES, size - start)
    const bytes = Buffer.from(await this.#source.read(start, most))
    let end = 0
    let lines = 0
    while (lines < count) {
      const lineEnd = bytes.indexOf(LINE_END, end)
      if (lineEnd === -1) break
      end = lineEnd + 1
      lines += 1
    }
    if (lines < count && start + bytes.length === size && end < bytes.length)
      return { bytes: bytes.toString(), lines: lines + 1 }
    if (lines > 0) return { bytes: bytes.subarray(0, end).toString(), lines }
    return {
      bytes: `${upToWholeCharacter(bytes, bytes.length - 1)} … [the line goes on; only its first ${most} bytes are here]\n`,
      lines: 1,
    }
  }
}

/** How many line ends there are; a plain loop, as short lines would make many calls of `indexOf`. */
export function countLineEnds(bytes: Uint8Array): number {
  let count = 0
  for (let at = 0; at < bytes.length; at += 1) if (bytes[at] === LINE_END) count += 1
  return count
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, Math.trunc(value) || least))
}
