import { type ChainLink, FIRST_PREV, inspectLine, type ShippedFile } from '@tool-hub/runtime/records/log'
import type { NewSegment, RunLease } from '../store/types.ts'

/** Up to which line a record is shared. */
export interface SharedPosition extends ChainLink {
  /** Where the line ends in the file, after its newline. */
  readonly bytes: number
}

/** Where a record begins of which nothing is shared. */
export const NOTHING_SHARED: SharedPosition = { seq: 0, hash: FIRST_PREV, bytes: 0 }

/** What one segment has at most. */
export const MAX_SEGMENT_BYTES = 1024 * 1024
/** Longer than any line. */
const MAX_LINE_BYTES = 16 * 1024 * 1024

/** A record, and up to where it is shared. */
interface FileOnItsWay {
  readonly run: string
  readonly held: RunLease
  readonly file: ShippedFile
  readonly position: SharedPosition
}

/** The next lines of a run; `undefined` if all are shared. */
export function nextSegment(
  { run, held, file, position }: FileOnItsWay,
  at: number,
): { readonly segment: NewSegment; readonly end: SharedPosition } | undefined {
  if (file.bytes <= position.bytes) return undefined
  const bytes = readLines(file, position.bytes)
  const last = inspectLine(bytes.subarray(bytes.lastIndexOf(10, -2) + 1, -1))
  if (last?.seq !== position.seq + countLines(bytes)) throw new Error('its lines are not in order')
  const end = { seq: last.seq, hash: last.hash, bytes: position.bytes + bytes.length }
  const after = position.seq === 0 ? '' : position.hash
  const segment = { run, held, first: position.seq + 1, last: last.seq, after, hash: last.hash, at }
  return { segment: { ...segment, lines: bytes.toString('utf8') }, end }
}

/** Reads whole lines: as many as fit, and at least one. */
function readLines(file: ShippedFile, from: number): Buffer {
  for (let size = MAX_SEGMENT_BYTES; size <= MAX_LINE_BYTES; size *= 4) {
    const bytes = file.read(from, Math.min(size, file.bytes - from))
    const end = bytes.lastIndexOf(10) + 1
    if (end > 0) return bytes.subarray(0, end)
    if (bytes.length < size) break
  }
  throw new Error('it ends in half a line')
}

function countLines(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count++
  return count
}

/** Where a later line of the file is; `undefined` if the file does not have it. */
export function findLine({ file, position }: FileOnItsWay, seq: number): SharedPosition | undefined {
  let found: SharedPosition = position
  while (found.seq < seq && found.bytes < file.bytes) {
    const bytes = readLines(file, found.bytes)
    for (let start = 0; start < bytes.length && found.seq < seq; ) {
      const end = bytes.indexOf(10, start)
      const facts = inspectLine(bytes.subarray(start, end))
      if (facts?.seq !== found.seq + 1) return undefined
      found = { seq: facts.seq, hash: facts.hash, bytes: found.bytes + end + 1 - start }
      start = end + 1
    }
  }
  return found.seq === seq ? found : undefined
}
