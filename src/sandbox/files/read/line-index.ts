import { type BigIntStats, fstatSync } from 'node:fs'
import { LRUCache } from 'lru-cache'
import { changedMeanwhile, type OpenFile, readFileChunks } from './open-file.ts'

/** The grain of an index: a place in a file is known to the block, so a page costs itself and one block. */
export const BLOCK_BYTES = 65_536

const MAX_FILES = 32

/** A file changed less than this before it was scanned may change again without its times showing it. */
const SETTLING_MS = 100

/** Where the lines of a file are: eight bytes a block, so at most 512 KB for the largest file that is scanned. */
export interface LineIndex {
  readonly totalLines: number
  /** How many line ends stand before each block. */
  readonly before: Float64Array
}

/** The file as it was when it was scanned; any difference means that the index may be wrong. */
interface Known {
  readonly stats: BigIntStats
  readonly index: LineIndex
}

// One for the process, by device and inode: guards come and go with runs, and an index holds nothing of the content.
const known = new LRUCache<string, Known>({ max: MAX_FILES })

/** The index of an open file that is still good, or undefined. */
export function knownIndex({ descriptor, size }: OpenFile): LineIndex | undefined {
  const stats = fstatSync(descriptor, { bigint: true })
  const found = known.get(keyOf(stats))
  return found && Number(stats.size) === size && isSame(found.stats, stats) ? found.index : undefined
}

/** Scans a file once, and remembers its index when the file did not change meanwhile. */
export async function scanLines(file: OpenFile, signal: AbortSignal): Promise<LineIndex> {
  const startedMs = Date.now()
  const stats = fstatSync(file.descriptor, { bigint: true })
  const index = await countLines(file, signal)
  const isSettled = Number(stats.size) === file.size && startedMs - Number(stats.ctimeMs) > SETTLING_MS
  if (isSettled && isSame(stats, fstatSync(file.descriptor, { bigint: true })))
    known.set(keyOf(stats), { stats, index })
  return index
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

async function countLines(file: OpenFile, signal: AbortSignal): Promise<LineIndex> {
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

function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs && a.ino === b.ino && a.dev === b.dev
}

function keyOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`
}
