import { closeSync, fstatSync, readSync } from 'node:fs'
import { byteOrderMark } from '@tool-hub/core/lib'
import type { FileMatches, MatchedLine } from './found-files.ts'

const MAX_UTF16_BYTES = 50_000_000

/** The report of ripgrep on one file, accepted only if the same bytes are found again in the file. */
export class FileReport {
  matches = 0
  private readonly lines: MatchedLine[] = []
  private state: 'good' | 'unsure' | 'dropped' = 'good'
  private opened: CheckedFile | undefined
  private readonly file: string
  private readonly keepsLines: boolean
  private readonly open: () => number | undefined

  /** `open` opens the file without following links; it is called for the first block. */
  constructor(file: string, keepsLines: boolean, open: () => number | undefined) {
    this.file = file
    this.keepsLines = keepsLines
    this.open = open
  }

  add(block: RgBlock, isMatch: boolean): void {
    if (this.state !== 'good') return
    if (!this.isThere(block)) {
      this.doubt()
      return
    }
    let count = 0
    for (const line of cutLines(block, isMatch)) {
      if (this.keepsLines) this.lines.push(line)
      count += 1
    }
    if (isMatch) this.matches += count
  }

  /** A part of the file could not be checked: nothing of it is returned. */
  doubt(): void {
    if (this.state === 'good') this.state = 'unsure'
  }

  /** The file turned out to be binary. */
  drop(): void {
    this.state = 'dropped'
  }

  /** Closes the file and returns its matches. */
  finish(): FileMatches | 'unsure' | undefined {
    this.opened?.close()
    this.opened = undefined
    if (this.state === 'unsure') return 'unsure'
    if (this.state === 'dropped' || this.matches === 0) return undefined
    return { file: this.file, matches: this.matches, lines: this.lines }
  }

  private isThere({ offset, bytes }: RgBlock): boolean {
    const descriptor = this.opened ? undefined : this.open()
    if (descriptor !== undefined) this.opened = checkedFile(descriptor)
    return this.opened?.holds(offset, bytes) ?? false
  }
}

function* cutLines({ bytes, line, spans }: RgBlock, isMatch: boolean): Generator<MatchedLine> {
  let number = line
  let next = 0
  for (let from = 0; from < bytes.length || number === line; number += 1) {
    const found = bytes.indexOf(10, from)
    const end = found === -1 ? bytes.length : found
    while ((spans[next]?.end ?? Number.POSITIVE_INFINITY) <= from) next += 1
    const text = bytes.toString('utf8', from, end).replace(/\r$/, '')
    const start = Math.min(end, Math.max(from, spans[next]?.start ?? from))
    const matchStart = text.length > MAX_EXCERPT_LENGTH ? bytes.toString('utf8', from, start).length : 0
    yield { line: number, text: excerpt(text, matchStart), isMatch }
    from = end + 1
  }
}

/** An open file that ripgrep's report is checked against. */
interface CheckedFile {
  /** Whether the text has these bytes at this offset. */
  holds(offset: number, bytes: Buffer): boolean
  close(): void
}

/** Takes over a descriptor; undefined if it is not a file whose text can be checked. */
export function checkedFile(descriptor: number): CheckedFile | undefined {
  try {
    const reader = holder(descriptor)
    if (reader) return { holds: reader, close: () => closeSync(descriptor) }
  } catch {
    // A file that cannot be read cannot be checked.
  }
  closeSync(descriptor)
  return undefined
}

function holder(descriptor: number): CheckedFile['holds'] | undefined {
  const stats = fstatSync(descriptor)
  if (!stats.isFile()) return undefined
  const mark = byteOrderMark(readAt(descriptor, 0, 3))
  if (!mark) return (offset, bytes) => readAt(descriptor, offset, bytes.length).equals(bytes)
  if (mark.encoding === 'utf-8') return (offset, bytes) => readAt(descriptor, offset + 3, bytes.length).equals(bytes)
  if (stats.size > MAX_UTF16_BYTES) return undefined
  // ripgrep converts such a file to UTF-8 and counts in that.
  const text = Buffer.from(decodeUtf16(readAt(descriptor, 2, stats.size), mark.encoding))
  return (offset, bytes) => text.subarray(offset, offset + bytes.length).equals(bytes)
}

/** The bytes at an offset, fewer at the end of the file. */
function readAt(descriptor: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const count = readSync(descriptor, bytes, filled, length - filled, position + filled)
    if (count === 0) break
    filled += count
  }
  return bytes.subarray(0, filled)
}

/** Longer lines are shortened. */
const MAX_EXCERPT_LENGTH = 500
const BEFORE = 150

/** A line as a result shows it: at most 500 characters around the match. */
export function excerpt(line: string, matchStart = 0): string {
  if (line.length <= MAX_EXCERPT_LENGTH) return line
  const from = wholeCharacter(line, Math.max(0, Math.min(matchStart - BEFORE, line.length - MAX_EXCERPT_LENGTH)))
  const to = wholeCharacter(line, Math.min(line.length, from + MAX_EXCERPT_LENGTH))
  return `${from > 0 ? '…' : ''}${line.slice(from, to)}${to < line.length ? '…' : ''}`
}

/** The next index that does not split a surrogate pair. */
function wholeCharacter(text: string, index: number): number {
  const isLowHalf = (text.charCodeAt(index) & 0xfc00) === 0xdc00
  return isLowHalf ? index + 1 : index
}

/** Decodes UTF-16 bytes that have no byte order mark. */
export function decodeUtf16(bytes: Uint8Array, encoding: 'utf-16le' | 'utf-16be'): string {
  return new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes)
}

/** A message of ripgrep about a file: one line of its JSON. */
export type RgMessage =
  | { readonly type: 'begin'; readonly path: string | undefined }
  | { readonly type: 'match' | 'context'; readonly block: RgBlock }
  | { readonly type: 'end'; readonly isBinary: boolean }
  | { readonly type: 'summary' }
  /** A message that is too long to be parsed. */
  | { readonly type: 'too-long' }

/** One line, or several that match together. */
export interface RgBlock {
  readonly bytes: Buffer
  /** Number of the first line. */
  readonly line: number
  /** Where the block begins in the file's text, its byte order mark not counted. */
  readonly offset: number
  /** Where the matches begin and end in `bytes`. */
  readonly spans: readonly { readonly start: number; readonly end: number }[]
}

interface Text {
  readonly text?: string
  readonly bytes?: string
}

interface Raw {
  readonly type: string
  readonly data: {
    readonly path?: Text
    readonly lines?: Text
    readonly line_number?: number
    readonly absolute_offset?: number
    readonly submatches?: readonly { readonly start: number; readonly end: number }[]
    readonly binary_offset?: number | null
  }
}

const MAX_LINE_BYTES = 16_000_000

/** Splits the output of ripgrep into messages; `onMessage` returns false to end it. */
export function readRgMessages(onMessage: (message: RgMessage) => boolean): (chunk: Buffer) => boolean {
  let parts: Buffer[] = []
  let length = 0
  return (chunk) => {
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      const rest = chunk.subarray(from, end)
      // If pieces were dropped, the end does not match the beginning.
      const line =
        length > MAX_LINE_BYTES ? Buffer.concat(parts) : parts.length > 0 ? Buffer.concat([...parts, rest]) : rest
      const isWhole = length + end - from <= MAX_LINE_BYTES
      parts = []
      length = 0
      from = end + 1
      if (!onMessage(isWhole ? parse(line.toString()) : parseCut(line))) return false
    }
    // Only the beginning of an overlong line is kept.
    if (length <= MAX_LINE_BYTES) parts.push(chunk.subarray(from))
    length += chunk.length - from
    return true
  }
}

function parse(line: string): RgMessage {
  const { type, data } = JSON.parse(line) as Raw
  if (type === 'match' || type === 'context') return { type, block: toBlock(data) }
  if (type === 'begin') return { type, path: data.path?.text }
  if (type === 'end') return { type, isBinary: typeof data.binary_offset === 'number' }
  return { type: 'summary' }
}

/** A message with very many matches lists them at its end: that list may be cut off. */
function parseCut(start: Buffer): RgMessage {
  const text = start.toString()
  const lastWhole = text.lastIndexOf(',{"match":')
  if (lastWhole === -1) return { type: 'too-long' }
  try {
    return parse(`${text.slice(0, lastWhole)}]}}`)
  } catch {
    // The cut was inside the text, not in the list.
    return { type: 'too-long' }
  }
}

function toBlock({ lines = {}, line_number = 1, absolute_offset = 0, submatches = [] }: Raw['data']): RgBlock {
  const bytes = lines.text === undefined ? Buffer.from(lines.bytes ?? '', 'base64') : Buffer.from(lines.text)
  return { bytes, line: line_number, offset: absolute_offset, spans: submatches }
}
