import { ToolError } from '../../../errors.ts'
import { findNearest } from '../edit/find-nearest.ts'
import { findRuns } from '../lines/find-runs.ts'
import { stripEnd } from '../lines/fold-line.ts'
import { quote } from '../quote.ts'
import type { PatchChunk } from './patch.ts'

/** A file's lines as they are, and as they are compared when that finds nothing. */
interface Rungs {
  readonly exact: readonly string[]
  readonly stripped: readonly string[]
}

/** Where each chunk begins, as an index of the lines; chunks follow each other. */
export function placeChunks(lines: readonly string[], chunks: readonly PatchChunk[], path: string): number[] {
  const rungs = { exact: lines, stripped: lines.map(stripEnd) }
  let free = 0
  return chunks.map((chunk) => {
    const place = placeChunk(rungs, chunk, free, path)
    free = place + wantedLines(chunk).length
    return place
  })
}

function placeChunk(rungs: Rungs, chunk: PatchChunk, free: number, path: string): number {
  const from = passAnchors(rungs, chunk, free, path)
  const wanted = wantedLines(chunk)
  const isAnchored = chunk.anchors.length > 0
  if (wanted.length === 0) return isAnchored && !chunk.isAtEnd ? from : rungs.exact.length

  // The line of the last anchor may be repeated as context.
  const start = isAnchored ? Math.max(free, from - 1) : free
  const places = findLines(rungs, wanted, start)
  if (chunk.isAtEnd) {
    const last = rungs.exact.length - wanted.length
    if (places.includes(last)) return last
    throw notFound(rungs, chunk, wanted, path)
  }
  const [place, other] = places
  if (place === undefined) throw notFound(rungs, chunk, wanted, path)
  if (other !== undefined && !isAnchored) throw notUnique(chunk, places, path)
  return place
}

/** The index after the last anchor's line. */
function passAnchors(rungs: Rungs, { anchors, line }: PatchChunk, free: number, path: string): number {
  let from = free
  for (const anchor of anchors) {
    const [place] = findLines(rungs, [anchor], from, 1)
    const at = place ?? findTrimmed(rungs.stripped, anchor, from)
    if (at === undefined) {
      throw new ToolError(
        'NOT_FOUND',
        `Line ${line} of the patch: ${quote(path)} has no line ${quote(anchor)} ${after(from)}.`,
        {
          hint: 'Name a line of the file after @@, as it is. Nothing was changed.',
        },
      )
    }
    from = at + 1
  }
  return from
}

function findTrimmed(lines: readonly string[], anchor: string, from: number): number | undefined {
  const wanted = anchor.trim()
  for (let index = from; index < lines.length; index++) if (lines[index]!.trim() === wanted) return index
  return undefined
}

function findLines({ exact, stripped }: Rungs, wanted: readonly string[], from: number, most?: number): number[] {
  const places = findRuns(exact, wanted, { from, most })
  return places.length > 0 ? places : findRuns(stripped, wanted.map(stripEnd), { from, most })
}

function wantedLines({ lines }: PatchChunk): string[] {
  return lines.filter(({ sign }) => sign !== '+').map(({ text }) => text)
}

function notFound({ exact }: Rungs, chunk: PatchChunk, wanted: readonly string[], path: string): ToolError {
  const [near] = findNearest(exact.join('\n'), wanted.join('\n'))
  const where = near
    ? ` Nearest: line ${near.line}; line ${near.differs.line} differs: the file has ${quote(near.differs.has ?? '', 120)}, the patch ${quote(near.differs.wanted, 120)}.`
    : ''
  const end = chunk.isAtEnd ? ' at its end' : ''
  return new ToolError(
    'NOT_FOUND',
    `Line ${chunk.line} of the patch: its lines are not in ${quote(path)}${end}.${where}`,
    {
      hint: 'Read the file and copy its lines exactly; changes go from top to bottom. Nothing was changed.',
    },
  )
}

function notUnique(chunk: PatchChunk, places: readonly number[], path: string): ToolError {
  const lines = places.slice(0, 10).map((place) => place + 1)
  const message = `Line ${chunk.line} of the patch: its lines stand ${places.length} times in ${quote(path)}, at lines ${lines.join(', ')}.`
  return new ToolError('CONFLICT', message, {
    hint: 'Show more lines around the change, or name a line before it with @@. Nothing was changed.',
  })
}

function after(index: number): string {
  return index === 0 ? 'in it' : `after line ${index}`
}
