import { closeSync } from 'node:fs'
import type { LinePage } from '../../../contracts/handles.ts'
import { sha256 } from '../../../value/hash.ts'
import type { FilesCall, FilesDoor } from '../files-door.ts'
import { changedMeanwhile } from './changed-meanwhile.ts'
import { checkCount } from './check-count.ts'
import { decodeText, decodeUtf8, encodingOf, looksBinary, notText } from './decode-text.ts'
import { BLOCK_BYTES, countLineEnds, findLineEnd, knownIndex, type LineIndex, scanLines } from './line-index.ts'
import { type OpenFile, openFile } from './open-file.ts'
import { readPart, readSmall, SMALL_BYTES } from './read-content.ts'
import { mostBytes } from './read-file.ts'
import { MAX_SCAN_BYTES, refuseLarger } from './refuse-larger.ts'
import { takeLines } from './take-lines.ts'

const DEFAULT_LINES = 2_000
const DEFAULT_BYTES = 50_000
const MARK_BYTES = 3

/** What a caller asks for. */
interface PageOptions {
  readonly offset?: number
  readonly limit?: number
  readonly maxBytes?: number
}

/** What a caller gets at most: lines from `from` on. */
interface Wanted {
  readonly from: number
  readonly limit: number
  readonly maxBytes: number
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
export async function readLines(
  door: FilesDoor,
  call: FilesCall,
  path: string,
  { offset, limit, maxBytes }: PageOptions = {},
): Promise<LinePage> {
  const wanted = {
    from: checkCount('offset', offset, 1, 1),
    limit: checkCount('limit', limit, DEFAULT_LINES),
    maxBytes: Math.min(mostBytes(door, call, maxBytes), maxBytes ?? DEFAULT_BYTES),
  }
  const file = openFile(door, call, path)
  try {
    if (file.size <= SMALL_BYTES) return pageOfSmall(file, readSmall(file), wanted, call)
    return await pageOfLarge(door, file, wanted, call)
  } finally {
    closeSync(file.descriptor)
  }
}

/** Without an index: counting the lines of a small file takes less time than remembering where they are. */
function pageOfSmall(file: OpenFile, content: Buffer, wanted: Wanted, call: FilesCall): LinePage {
  if (encodingOf(content).startsWith('utf-16')) return pageOfUtf16(file, content, wanted, call)
  refuseBinary(file, content)
  return tell(call, content, toPage(file, wanted, wholeSlice(content, wanted, markBytes(content))))
}

async function pageOfLarge(door: FilesDoor, file: OpenFile, wanted: Wanted, call: FilesCall): Promise<LinePage> {
  const signal = call.signal()
  let index = knownIndex(file)
  if (!index) {
    refuseLarger(file, MAX_SCAN_BYTES, 'Read a part of it by bytes: lines cannot be counted in a file of this size.')
    const head = await readPart(file.descriptor, 0, SMALL_BYTES, signal)
    if (encodingOf(head).startsWith('utf-16')) {
      refuseLarger(file, door.maxReadBytes, 'Lines of UTF-16 are counted in memory; convert the file to UTF-8.')
      return pageOfUtf16(file, await readPart(file.descriptor, 0, file.size, signal), wanted, call)
    }
    refuseBinary(file, head)
    index = await scanLines(file, signal)
  }
  const slice = await readSlice(file, index, wanted, signal)
  const page = tell(call, slice.bytes, toPage(file, wanted, slice))
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
  const bytes = await readPart(file.descriptor, position, end - position, signal)
  if (bytes.length < end - position) throw changedMeanwhile(file)
  const start = from === 1 ? markBytes(bytes) : skipLines(bytes, first.skip + 1)
  return { bytes, start, position, totalLines }
}

function wholeSlice(bytes: Buffer, { from }: Wanted, mark: number): Slice {
  const text = bytes.subarray(mark)
  return { bytes, start: mark + skipLines(text, from - 1), position: 0, totalLines: countLines(text) }
}

function toPage(file: OpenFile, { from, limit, maxBytes }: Wanted, slice: Slice): LinePage {
  const { bytes, start, position, totalLines } = slice
  const { path } = file.target
  const { count, end, tooLong } = takeLines(bytes, start, limit, maxBytes)
  const text = decodeUtf8(bytes.subarray(start, end), path, position + start)
  const to = from + count - 1
  const page = { path, text, from, to, totalLines, bytes: file.size }
  if (tooLong === undefined) return page
  const lineEnd = bytes.indexOf(10, tooLong)
  const length = (lineEnd === -1 ? bytes.length : lineEnd) - tooLong
  return { ...page, tooLong: { line: to + 1, offset: position + tooLong, bytes: length } }
}

/** A page with the whole file on it is as good as having read the file. */
function tell(call: FilesCall, content: Buffer, page: LinePage): LinePage {
  const isWhole = page.from === 1 && page.to === page.totalLines && content.length === page.bytes
  if (isWhole) call.seen?.set(page.path, sha256(content))
  return page
}

/** How long a line is that goes on after the slice: its end is found by the index, not by reading all of it. */
async function measure(file: OpenFile, index: LineIndex, line: NonNullable<LinePage['tooLong']>, signal: AbortSignal) {
  const { block, skip } = findLineEnd(index, line.line)
  const position = block * BLOCK_BYTES
  const bytes = await readPart(file.descriptor, position, Math.min(BLOCK_BYTES, file.size - position), signal)
  const end = bytes.indexOf(10, skipLines(bytes, skip))
  return { ...line, bytes: (end === -1 ? file.size : position + end) - line.offset }
}

/** UTF-16 is paged as the UTF-8 of the same text; only places in the file are counted as they are there. */
function pageOfUtf16(file: OpenFile, content: Buffer, wanted: Wanted, call: FilesCall): LinePage {
  const bytes = Buffer.from(decodeText(content, file.target.path).text)
  const { tooLong, ...page } = tell(call, content, toPage(file, wanted, wholeSlice(bytes, wanted, 0)))
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
  return countLineEnds(bytes) + (bytes.length > 0 && bytes.at(-1) !== 10 ? 1 : 0)
}
