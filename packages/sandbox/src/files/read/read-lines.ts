import { closeSync, fstatSync } from 'node:fs'
import type { LinePage } from '@tool-hub/core'
import { sha256 } from '@tool-hub/core/lib'
import type { FilesCall } from '../files-call.ts'
import type { FilesRoot } from '../files-root.ts'
import {
  changedMeanwhile,
  checkCount,
  decodeFile,
  decodeUtf8,
  encodingOf,
  looksBinary,
  MAX_SCAN_BYTES,
  maxBytesOfRead,
  notText,
  type OpenFile,
  openFile,
  readFileChunks,
  readPiece,
  readSmall,
  refuseLarger,
  SMALL_BYTES,
} from './read-file.ts'
import { UnchangedFiles } from './unchanged-files.ts'

const DEFAULT_LINES = 2_000
const DEFAULT_BYTES = 50_000
const MARK_BYTES = 3

/** What a caller asks for. */
interface PageOptions {
  readonly offset?: number
  readonly limit?: number
  readonly maxBytes?: number
  readonly maxChars?: number
}

/** What a caller gets at most: lines from `from` on. */
interface Wanted {
  readonly from: number
  readonly limit: number
  readonly maxBytes: number
  readonly maxChars: number
}

/** Some bytes of a file in which the first wanted line begins at `start`. */
interface Slice {
  readonly bytes: Buffer
  readonly start: number
  /** Where in the file the bytes begin. */
  readonly position: number
  readonly totalLines: number
}

/** Reads some whole lines of a file: scans it once, and then pays for the page only as long as the file stays as it is. */
export async function readLinePage(
  filesRoot: FilesRoot,
  call: FilesCall,
  path: string,
  { offset, limit, maxBytes, maxChars }: PageOptions = {},
): Promise<LinePage> {
  const wanted = {
    from: checkCount('offset', offset, 1, 1),
    limit: checkCount('limit', limit, DEFAULT_LINES),
    maxBytes: Math.min(maxBytesOfRead(filesRoot, call, maxBytes), maxBytes ?? DEFAULT_BYTES),
    maxChars: checkCount('maxChars', maxChars, Number.MAX_SAFE_INTEGER),
  }
  const file = openFile(filesRoot, call, path)
  try {
    if (file.size <= SMALL_BYTES) {
      return pageOfSmall(file, readSmall(file), wanted, call)
    }
    return await pageOfLarge(filesRoot, file, wanted, call)
  } finally {
    closeSync(file.descriptor)
  }
}

/** Without an index: counting the lines of a small file takes less time than remembering where they are. */
function pageOfSmall(file: OpenFile, content: Buffer, wanted: Wanted, call: FilesCall): LinePage {
  if (encodingOf(content).startsWith('utf-16')) return pageOfUtf16(file, content, wanted, call)
  refuseBinary(file, content)
  return noteSeen(call, content, toPage(file, wanted, wholeSlice(content, wanted, markBytes(content))))
}

async function pageOfLarge(filesRoot: FilesRoot, file: OpenFile, wanted: Wanted, call: FilesCall): Promise<LinePage> {
  const signal = call.signal()
  let index = knownIndex(file)
  if (!index) {
    refuseLarger(file, MAX_SCAN_BYTES, 'Read a part of it by bytes: lines cannot be counted in a file of this size.')
    const head = await readPiece(file.descriptor, 0, SMALL_BYTES, signal)
    if (encodingOf(head).startsWith('utf-16')) {
      refuseLarger(file, filesRoot.maxReadBytes, 'Lines of UTF-16 are counted in memory; convert the file to UTF-8.')
      return pageOfUtf16(file, await readPiece(file.descriptor, 0, file.size, signal), wanted, call)
    }
    refuseBinary(file, head)
    index = await scanLines(file, signal)
  }
  const slice = await readSlice(file, index, wanted, signal)
  const page = noteSeen(call, slice.bytes, toPage(file, wanted, slice))
  return page.tooLong ? { ...page, tooLong: await measure(file, index, page.tooLong, signal) } : page
}

/** Reads from the block in which the first line begins to the one in which the last ends, or as far as anything fits. */
async function readSlice(file: OpenFile, index: LineIndex, wanted: Wanted, signal: AbortSignal): Promise<Slice> {
  const { from, limit, maxBytes } = wanted
  const { totalLines } = index
  if (from > totalLines) return { bytes: Buffer.alloc(0), start: 0, position: file.size, totalLines }
  const first = from === 1 ? { block: 0, skip: 0 } : findLineEnd(index, from - 1)
  const last = findLineEnd(index, Math.min(from + limit - 1, totalLines))
  const position = first.block * BLOCK_BYTES
  // Twice, so that a line after a full page can be told from one that is too long for any page.
  const longest = position + BLOCK_BYTES + 2 * maxBytes + MARK_BYTES + 2
  const end = Math.min(file.size, (last.block + 1) * BLOCK_BYTES, longest)
  const bytes = await readPiece(file.descriptor, position, end - position, signal)
  if (bytes.length < end - position) throw changedMeanwhile(file)
  const start = from === 1 ? markBytes(bytes) : skipLines(bytes, first.skip + 1)
  return { bytes, start, position, totalLines }
}

function wholeSlice(bytes: Buffer, { from }: Wanted, mark: number): Slice {
  const text = bytes.subarray(mark)
  return { bytes, start: mark + skipLines(text, from - 1), position: 0, totalLines: countLines(text) }
}

function toPage(file: OpenFile, { from, ...most }: Wanted, slice: Slice): LinePage {
  const { bytes, start, position, totalLines } = slice
  const { path } = file.target
  const { count, end, tooLong } = takeLines(bytes, start, most)
  const text = decodeUtf8(bytes.subarray(start, end), path, position + start)
  const to = from + count - 1
  const page = { path, text, from, to, totalLines, bytes: file.size }
  if (tooLong === undefined) return page
  const lineEnd = bytes.indexOf(10, tooLong)
  const length = (lineEnd === -1 ? bytes.length : lineEnd) - tooLong
  return { ...page, tooLong: { line: to + 1, offset: position + tooLong, bytes: length } }
}

/** A page that contains the whole file counts as having read the file. */
function noteSeen(call: FilesCall, content: Buffer, page: LinePage): LinePage {
  const isWhole = page.from === 1 && page.to === page.totalLines && content.length === page.bytes
  if (isWhole) call.seen?.set(page.path, sha256(content))
  return page
}

/** How long a line is that continues after the slice: its end is found by the index, not by reading all of it. */
async function measure(file: OpenFile, index: LineIndex, line: NonNullable<LinePage['tooLong']>, signal: AbortSignal) {
  const { block, skip } = findLineEnd(index, line.line)
  const position = block * BLOCK_BYTES
  const bytes = await readPiece(file.descriptor, position, Math.min(BLOCK_BYTES, file.size - position), signal)
  const end = bytes.indexOf(10, skipLines(bytes, skip))
  return { ...line, bytes: (end === -1 ? file.size : position + end) - line.offset }
}

/** UTF-16 is paged as the UTF-8 of the same text; only places in the file are counted as they are there. */
function pageOfUtf16(file: OpenFile, content: Buffer, wanted: Wanted, call: FilesCall): LinePage {
  const bytes = Buffer.from(decodeFile(content, file.target.path).text)
  const { tooLong, ...page } = noteSeen(call, content, toPage(file, wanted, wholeSlice(bytes, wanted, 0)))
  if (!tooLong) return page
  const lengthOf = (from: number, to: number) => bytes.toString('utf8', from, to).length * 2
  const { line, offset } = tooLong
  return {
    ...page,
    tooLong: { line, offset: 2 + lengthOf(0, offset), bytes: lengthOf(offset, offset + tooLong.bytes) },
  }
}

function refuseBinary({ target }: OpenFile, head: Buffer): void {
  if (looksBinary(head)) throw notText(`it has a NUL byte at byte ${head.indexOf(0)}`, true, target.path)
}

function markBytes(bytes: Buffer): number {
  return encodingOf(bytes) === 'utf-8-bom' ? MARK_BYTES : 0
}

/** Where the line begins that comes after `count` line ends; the end of the bytes when there are fewer. */
function skipLines(bytes: Buffer, count: number): number {
  let at = 0
  for (let skipped = 0; skipped < count; skipped += 1) {
    const found = bytes.indexOf(10, at)
    if (found === -1) return bytes.length
    at = found + 1
  }
  return at
}

function countLines(bytes: Buffer): number {
  return countNewlines(bytes) + (bytes.length > 0 && bytes.at(-1) !== 10 ? 1 : 0)
}

/** Whole lines among some bytes. */
interface TakenLines {
  readonly count: number
  /** Where the text of the last line ends, its line end left out. */
  readonly end: number
  /** Where the line begins that was not taken because it alone is over the limit; undefined when there is none. */
  readonly tooLong: number | undefined
}

/**
 * Takes at most `limit` whole lines that stand in `bytes` from `start` on, as many as fit into `maxBytes` and `maxChars`.
 * The bytes end with a whole line, or so late that a line which is cut off there is too long in any case.
 */
export function takeLines(
  bytes: Buffer,
  start: number,
  { limit, maxBytes, maxChars }: Pick<Wanted, 'limit' | 'maxBytes' | 'maxChars'>,
): TakenLines {
  const isTooLong = (from: number, to: number, chars = () => charsOf(bytes, from, to)) =>
    to - from > maxBytes || (to - from > maxChars && chars() > maxChars)
  let counted = { to: start, chars: 0 }
  const charsUpTo = (to: number) => {
    counted = { to, chars: counted.chars + charsOf(bytes, counted.to, to) }
    return counted.chars
  }
  let end = start
  let next = start
  let count = 0
  while (count < limit && next < bytes.length) {
    const found = bytes.indexOf(10, next)
    const lineEnd = found === -1 ? bytes.length : found
    if (isTooLong(start, lineEnd, () => charsUpTo(lineEnd)))
      return { count, end, tooLong: isTooLong(next, lineEnd) ? next : undefined }
    end = lineEnd
    next = lineEnd + 1
    count += 1
  }
  return { count, end, tooLong: undefined }
}

/** UTF-16 code units, as texts are counted; there are never more than bytes. */
function charsOf(bytes: Buffer, from: number, to: number): number {
  return bytes.toString('utf8', from, to).length
}

/** The grain of an index: a place in a file is known to the block, so a page costs itself and one block. */
const BLOCK_BYTES = 65_536

/** Where the lines of a file are: eight bytes a block, so at most 512 KB for the largest file that is scanned. */
interface LineIndex {
  readonly totalLines: number
  /** How many line ends stand before each block. */
  readonly before: Float64Array
}

const indexes = new UnchangedFiles<LineIndex>()

/** The index of an open file that is still good, or undefined. */
export function knownIndex({ descriptor, size }: OpenFile): LineIndex | undefined {
  const stats = fstatSync(descriptor, { bigint: true })
  return Number(stats.size) === size ? indexes.get(stats) : undefined
}

/** Scans a file once, and remembers its index when the file did not change meanwhile. */
export function scanLines(file: OpenFile, signal: AbortSignal): Promise<LineIndex> {
  return indexes.learn(file.descriptor, file.size, () => indexLines(file, signal))
}

/** The block with the line end of that number, counted from 1, and how many line ends of that block come before it. */
export function findLineEnd({ before }: LineIndex, number: number): { block: number; skip: number } {
  let low = 0
  let high = before.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (before[middle]! < number) low = middle
    else high = middle - 1
  }
  return { block: low, skip: number - 1 - before[low]! }
}

/** How many line ends there are in `bytes`. */
export function countNewlines(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count += 1
  return count
}

async function indexLines(file: OpenFile, signal: AbortSignal): Promise<LineIndex> {
  const before = new Float64Array(Math.ceil(file.size / BLOCK_BYTES))
  let lineEnds = 0
  let last = 10
  const bytes = await readFileChunks(file, signal, (chunk, position) => {
    for (let start = 0; start < chunk.length; start += BLOCK_BYTES) {
      before[(position + start) / BLOCK_BYTES] = lineEnds
      lineEnds += countNewlines(chunk.subarray(start, start + BLOCK_BYTES))
    }
    last = chunk.at(-1)!
  })
  if (bytes < file.size) throw changedMeanwhile(file)
  return { before, totalLines: last === 10 ? lineEnds : lineEnds + 1 }
}
