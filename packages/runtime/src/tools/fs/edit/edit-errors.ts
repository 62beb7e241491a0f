import { ToolError } from '@tool-hub/core'
import { countOf, quote } from '../file-arguments.ts'
import { MAX_PLACES, type Replacement } from './edit-input.ts'
import { bareLines, lineNumbers } from './lines.ts'

/** Identifies an edit of a call, for messages. */
export interface EditName {
  readonly path: string
  /** Subject of a sentence: `The old text`, or `The old text of edits[2]`; dialects name the argument differently. */
  readonly name: string
}

const MAX_LINES = 10
const LINE_CHARS = 120

/** The old text was not found: reports the nearest places and what differs. */
export function notFound(file: string, oldText: string, { path, name }: EditName): ToolError {
  const near = findNearest(file, oldText).map(({ line, differs: { line: other, has, wanted } }) => {
    const own = has === undefined ? 'the file ends before it' : `the file has ${quote(has, LINE_CHARS)}`
    return `near line ${line}, where line ${other} differs: ${own}, the old text has ${quote(wanted, LINE_CHARS)}`
  })
  const where = near.length > 0 ? ` Nearest: ${near.join('; ')}.` : ' Nothing in the file is like it.'
  return new ToolError('NOT_FOUND', `${name} is not in ${quote(path)}.${where}`, {
    hint: 'Read the file there and copy the text exactly, without line numbers. Nothing was changed.',
  })
}

/** The old text was found at several places. */
export function notUnique(file: string, places: readonly Replacement[], { path, name }: EditName): ToolError {
  const numberOf = lineNumbers(file)
  const lines = places.slice(0, MAX_LINES).map(({ start }) => numberOf(start))
  const more = places.length > MAX_LINES ? ', …' : ''
  const many = places.length >= 1_000 ? 'at least 1000' : String(places.length)
  const message = `${name} stands ${many} times in ${quote(path)}, at lines ${lines.join(', ')}${more}.`
  return new ToolError('CONFLICT', message, {
    hint: 'Give more lines around the one you mean, or set replaceAll to change all of them. Nothing was changed.',
  })
}

/** Two edits overlap. */
export function overlapping(file: string, place: Replacement, names: readonly string[], path: string): ToolError {
  const line = lineNumbers(file)(place.start)
  return new ToolError('CONFLICT', `${names.join(' and ')} overlap at line ${line} of ${quote(path)}.`, {
    hint: 'All edits are matched against the file as it is; make one edit of the two. Nothing was changed.',
  })
}

/** The result would be too large. */
export function tooMuch(bytes: number, limit: number, path: string): ToolError {
  return new ToolError('FILE_TOO_LARGE', `${quote(path)} would have ${bytes} bytes, the limit is ${limit}.`, {
    hint: 'Make a smaller change. Nothing was changed.',
    details: { bytes, limit },
  })
}

/** More places than one call may change. */
export function tooMany({ path, name }: EditName): ToolError {
  return new ToolError(
    'INPUT_SCHEMA_INVALID',
    `${name} stands more than ${countOf(MAX_PLACES, 'time')} in ${quote(path)}.`,
    {
      hint: 'Give a longer text to replace. Nothing was changed.',
    },
  )
}

/** The new content equals the old one. */
export function nothingChanges(path: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', `${quote(path)} would stay as it is.`, {
    hint: 'The new text, with the line ends of the file, is what the file has already.',
  })
}

const MAX_CHARS = 200

/** A passage that nearly matches. Lines are 1-based. */
interface NearMatch {
  readonly line: number
  /** The first line that differs: what the file has there (nothing after its end) and what was expected. */
  readonly differs: { readonly line: number; readonly has: string | undefined; readonly wanted: string }
}

const MAX_NEAR_MATCHES = 3
/** How many lines of the wanted text vote, and for how many places each: bounds the work for any input. */
const MAX_VOTERS = 40
const MAX_VOTES_EACH = 200
const MAX_COMPARED = 20_000
const MIN_LIKENESS = 0.4

/** The places that contain most lines of the wanted text, or a line similar to its first one; best first. */
export function findNearest(text: string, wanted: string): NearMatch[] {
  const lines = bareLines(text)
  const parts = bareLines(wanted)
  const first = parts.findIndex((line) => line !== '')
  if (first === -1) return []
  const starts = startsByVotes(lines, parts)
  const near = starts.length > 0 ? starts : startsByLikeness(lines, parts[first]!, first)
  return describe(text.split('\n'), wanted.split('\n'), near.slice(0, MAX_NEAR_MATCHES))
}

/** Each line that the file also contains votes for the place that would put it there. */
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

function describe(lines: readonly string[], parts: readonly string[], starts: readonly number[]): NearMatch[] {
  return starts.flatMap((start) => {
    const differs = parts.findIndex((part, offset) => lines[start + offset] !== part)
    if (differs === -1) return []
    const line = start + differs + 1
    return [{ line: Math.max(start, 0) + 1, differs: { line, has: lines[line - 1], wanted: parts[differs]! } }]
  })
}

/** Similarity to a line, 0 to 1: the share of letter pairs in common. */
function likeness(wanted: string): (line: string) => number {
  const pairs = countPairs(wanted)
  const length = Math.min(wanted.length, MAX_CHARS) - 1
  return (line) => {
    const own = Math.min(line.length, MAX_CHARS) - 1
    // Too different in length to be similar; most lines end here.
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
