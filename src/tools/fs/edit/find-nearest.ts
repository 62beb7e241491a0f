import { bareLines } from '../lines/fold-line.ts'

const MAX_CHARS = 200

/** A place that is nearly the wanted one. Lines are 1-based. */
export interface NearPlace {
  readonly line: number
  /** The first line that differs, what the file has there (nothing after its end) and what was wanted. */
  readonly differs: { readonly line: number; readonly has: string | undefined; readonly wanted: string }
}

const MAX_PLACES = 3
/** Lines of the wanted text that vote, and how many places each may vote for: the work is bounded whatever comes. */
const MAX_VOTERS = 40
const MAX_VOTES_EACH = 200
const MAX_COMPARED = 20_000
const MIN_LIKENESS = 0.4

/** The places where most lines of the wanted text stand, or where a line is much like its first one; best first. */
export function findNearest(text: string, wanted: string): NearPlace[] {
  const lines = bareLines(text)
  const parts = bareLines(wanted)
  const first = parts.findIndex((line) => line !== '')
  if (first === -1) return []
  const starts = startsByVotes(lines, parts)
  const near = starts.length > 0 ? starts : startsByLikeness(lines, parts[first]!, first)
  return describe(text.split('\n'), wanted.split('\n'), near.slice(0, MAX_PLACES))
}

/** Each line that the file has, too, votes for the place that would put it there. */
function startsByVotes(lines: readonly string[], parts: readonly string[]): number[] {
  const places = new Map<string, number[]>()
  for (const line of parts) if (line.length > 2 && places.size < MAX_VOTERS) places.set(line, [])
  for (const [index, line] of lines.entries()) {
    const known = places.get(line)
    if (known && known.length < MAX_VOTES_EACH) known.push(index)
  }
  const votes = new Map<number, number>()
  for (const [offset, part] of parts.slice(0, MAX_VOTERS * 5).entries()) {
    for (const index of places.get(part) ?? []) votes.set(index - offset, (votes.get(index - offset) ?? 0) + 1)
  }
  return [...votes].sort((left, right) => right[1] - left[1] || left[0] - right[0]).map(([start]) => start)
}

function startsByLikeness(lines: readonly string[], part: string, offset: number): number[] {
  const like = likeness(part)
  return lines
    .slice(0, MAX_COMPARED)
    .map((line, index) => ({ start: index - offset, score: like(line) }))
    .filter(({ score }) => score >= MIN_LIKENESS)
    .sort((left, right) => right.score - left.score || left.start - right.start)
    .map(({ start }) => start)
}

function describe(lines: readonly string[], parts: readonly string[], starts: readonly number[]): NearPlace[] {
  return starts.flatMap((start) => {
    const differs = parts.findIndex((part, offset) => lines[start + offset] !== part)
    if (differs === -1) return []
    const line = start + differs + 1
    return [{ line: Math.max(start, 0) + 1, differs: { line, has: lines[line - 1], wanted: parts[differs]! } }]
  })
}

/** How much lines are like one: 0 to 1, the share of letter pairs that they have in common. */
function likeness(wanted: string): (line: string) => number {
  const pairs = countPairs(wanted)
  const length = Math.min(wanted.length, MAX_CHARS) - 1
  return (line) => {
    const own = Math.min(line.length, MAX_CHARS) - 1
    // Too different in length to be alike, whatever they hold; most lines end here.
    if (own < 1 || length < 1 || own > length * 3 || length > own * 3) return 0
    const left = new Map(pairs)
    let common = 0
    for (let index = 0; index < own; index++) {
      const pair = line.slice(index, index + 2)
      const remaining = left.get(pair) ?? 0
      if (remaining === 0) continue
      left.set(pair, remaining - 1)
      common++
    }
    return (2 * common) / (own + length)
  }
}

function countPairs(text: string): Map<string, number> {
  const pairs = new Map<string, number>()
  for (let index = 0; index < Math.min(text.length, MAX_CHARS) - 1; index++) {
    const pair = text.slice(index, index + 2)
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1)
  }
  return pairs
}
