import { type Artifact, type CommandOutput, type LogPage, ToolError } from '@tool-hub/core'
import type { OutputFile } from '../command-call.ts'
import { fromWholeLine, LastBytes, plainText, upToWholeCharacter } from './output-text.ts'

/** One of the two output streams of a command. */
export type StreamName = 'stdout' | 'stderr'

/** How much is kept in memory, and where the rest goes. */
interface KeptOutputOptions {
  readonly bound: number
  /** Opens the file for the complete output; absent if no records are kept. */
  readonly keepOutput?: () => OutputFile
}

/** Where all of the output is. */
type KeptState =
  | { readonly name: 'inMemory' }
  | { readonly name: 'inFile'; readonly file: OutputFile; readonly pages: LogPages; readonly isBinary: boolean }
  | { readonly name: 'artifact'; readonly artifact: Promise<Artifact>; readonly pages: LogPages }
  /** An incomplete file is worse than none: readers get the reason instead. `file` is still to be removed. */
  | { readonly name: 'failed'; readonly reason: unknown; readonly file?: OutputFile }

/** How much of the beginning is kept, for readers who want both ends. */
const HEAD_CHARS = 16_000
/** A character of JavaScript has at most so many bytes in UTF-8: those with four bytes are two of them. */
const MAX_CHAR_BYTES = 3

/** The output of a command: its beginning and end in memory, and all of it in a file once it exceeds the limit of memory. */
export class KeptOutput {
  readonly #options: KeptOutputOptions
  readonly #both: LastBytes
  readonly #tails: Record<StreamName, LastBytes>
  #head = Buffer.alloc(0)
  #state: KeptState = { name: 'inMemory' }
  #fileBytes = 0
  /** Newlines so far, counted only without a file. */
  #newlines = 0

  constructor(options: KeptOutputOptions) {
    this.#options = options
    this.#both = new LastBytes(options.bound)
    this.#tails = { stdout: new LastBytes(options.bound), stderr: new LastBytes(options.bound) }
  }

  /** Adds output; returns a promise if the command should not write more until it resolves. Never rejects. */
  take(bytes: Buffer, stream: StreamName): Promise<void> | undefined {
    const isOver = this.#both.total + bytes.length > this.#options.bound
    const waiting = isOver && this.#options.keepOutput ? this.#toFile(bytes, this.#options.keepOutput) : undefined
    if (!this.#options.keepOutput) this.#newlines += countNewlines(bytes)
    this.#tails[stream].push(bytes)
    const missing = Math.min(HEAD_CHARS * MAX_CHAR_BYTES, this.#options.bound) - this.#head.length
    if (missing > 0) this.#head = Buffer.concat([this.#head, bytes.subarray(0, missing)])
    this.#both.push(bytes)
    return waiting
  }

  output(): CommandOutput {
    return {
      stdout: textOf(this.#tails.stdout),
      stderr: textOf(this.#tails.stderr),
      tail: textOf(this.#both),
      ...(this.#both.isCut && { head: this.#headText() }),
      isCut: this.#both.isCut,
    }
  }

  #headText(): string {
    const text = plainText(upToWholeCharacter(this.#head, this.#head.length - 1).toString('utf8'))
    const splitsPair = /^[\uD800-\uDBFF][\uDC00-\uDFFF]/.test(text.slice(HEAD_CHARS - 1, HEAD_CHARS + 1))
    return text.slice(0, splitsPair ? HEAD_CHARS - 1 : HEAD_CHARS)
  }

  async log(options?: { readonly offset?: number; readonly limit?: number }): Promise<LogPage> {
    if (this.#state.name === 'failed') throw this.#state.reason
    const pages = this.#state.name === 'inMemory' ? this.#memoryPages() : this.#state.pages
    return pages.page(options)
  }

  /** The complete output as an artifact; undefined if memory contains all of it. No more output may follow. */
  async artifact(name: string): Promise<Artifact | undefined> {
    const state = this.#state
    if (state.name === 'failed') throw state.reason
    if (state.name === 'inMemory') return undefined
    if (state.name === 'artifact') return state.artifact
    const mediaType = state.isBinary ? 'application/octet-stream' : 'text/plain; charset=utf-8'
    const artifact = state.file.finish({ name, mediaType })
    this.#state = { name: 'artifact', artifact, pages: state.pages }
    return artifact
  }

  /** Whether there is a file that is neither an artifact nor removed. */
  get hasTemporaryFile(): boolean {
    return 'file' in this.#state && this.#state.file !== undefined
  }

  /** Removes the file unless it has become an artifact. */
  async discard(): Promise<void> {
    const file = 'file' in this.#state ? this.#state.file : undefined
    if (!file) return
    this.#fail(new ToolError('NOT_FOUND', 'The output of this command has been deleted.'))
    if (this.#state.name === 'failed') this.#state = { name: 'failed', reason: this.#state.reason }
    await file.discard()
  }

  #toFile(bytes: Buffer, open: () => OutputFile): Promise<void> | undefined {
    if (this.#state.name === 'failed') return
    try {
      const first = this.#state.name === 'inMemory' ? this.#openFile(open, bytes) : undefined
      const next = this.#write(bytes)
      if (!first && !next) return
      return Promise.all([first, next]).then(
        () => undefined,
        (error) => this.#fail(error),
      )
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Until now, memory contained all of it, in the order in which it was written. */
  #openFile(open: () => OutputFile, next: Buffer): Promise<void> | undefined {
    const file = open()
    const pages = new LogPages({
      size: () => this.#fileBytes,
      read: (offset, length) => file.read(offset, length),
      linesBefore: 0,
    })
    const before = this.#both.bytes()
    this.#state = { name: 'inFile', file, pages, isBinary: before.includes(0) || next.includes(0) }
    return before.length > 0 ? this.#write(before) : undefined
  }

  #write(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#state.name !== 'inFile') return undefined
    this.#fileBytes += bytes.length
    return this.#state.file.write(bytes)
  }

  /** The first reason counts. */
  #fail(reason: unknown): void {
    if (this.#state.name === 'failed') return
    this.#state = { name: 'failed', reason, file: this.#state.name === 'inFile' ? this.#state.file : undefined }
  }

  #memoryPages(): LogPages {
    const all = this.#both.bytes()
    const bytes = this.#both.isCut ? fromWholeLine(all) : all
    return new LogPages({
      size: () => bytes.length,
      read: async (offset, length) => bytes.subarray(offset, offset + length),
      linesBefore: this.#both.isCut ? this.#newlines - countNewlines(bytes) : 0,
    })
  }
}

function textOf(tail: LastBytes): string {
  const bytes = tail.bytes()
  return plainText((tail.isCut ? fromWholeLine(bytes) : bytes).toString('utf8'))
}

/** The bytes of a log, which may grow. */
interface LogSource {
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
function countNewlines(bytes: Uint8Array): number {
  let count = 0
  for (let at = 0; at < bytes.length; at += 1) if (bytes[at] === NEWLINE) count += 1
  return count
}

function clamp(value: number, min: number, max: number): number {
  return Math.max(min, Math.min(max, Math.trunc(value) || min))
}
