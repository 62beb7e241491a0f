import type { Replacement } from './edit-input.ts'
import { lineNumbers } from './lines.ts'

/** A change as a diff. */
export interface RegionDiff {
  /** Unified diff; a long one ends with a line that says how much is left out. */
  readonly diff: string
  /** 1-based line in the file after the change. */
  readonly firstChangedLine: number
}

/** Options of `regionDiff`. */
export interface RegionDiffOptions {
  readonly path: string
  readonly context?: number
  readonly maxChars?: number
}

/** Whole lines of the file and their replacement. */
interface Block {
  readonly start: number
  readonly end: number
  readonly line: number
  readonly removed: readonly string[]
  readonly added: readonly string[]
}

const LINE_CHARS = 1_000
const MAX_BLOCKS = 200

/** The diff of known replacements: reads only the lines around them, however large the file is. */
export function regionDiff(
  before: string,
  replacements: readonly Replacement[],
  { path, context = 4, maxChars = 20_000 }: RegionDiffOptions,
): RegionDiff {
  const groups = groupByLine(before, replacements)
  const numberOf = lineNumbers(before)
  const blocks = groups.slice(0, MAX_BLOCKS).map((group) => toBlock(before, group, numberOf))
  const first = blocks[0]!
  const lines = [`--- ${path}`, `+++ ${path}`]
  let shift = 0
  for (const hunk of groupHunks(before, blocks, context)) {
    addLines(lines, writeHunk(before, hunk, { context, shift }))
    for (const { added, removed } of hunk) shift += added.length - removed.length
  }
  return { diff: bound(lines, maxChars, groups.length - blocks.length), firstChangedLine: first.line }
}

/** Replacements that touch the same lines, and the end of the last of these lines. */
interface Group {
  readonly replacements: Replacement[]
  end: number
}

function groupByLine(before: string, replacements: readonly Replacement[]): Group[] {
  const groups: Group[] = []
  for (const replacement of replacements) {
    const last = groups.at(-1)
    if (!last || replacement.start >= last.end) {
      groups.push({ replacements: [replacement], end: lineEnd(before, replacement, true) })
      continue
    }
    last.replacements.push(replacement)
    // No other line end precedes the end of the line, and searching for one each time would be slow in a long line.
    if (replacement.end >= last.end) last.end = lineEnd(before, replacement, false)
  }
  return groups
}

function toBlock(before: string, { replacements, end }: Group, numberOf: (place: number) => number): Block {
  const start = lineStart(before, replacements[0]!.start)
  const parts: string[] = []
  let from = start
  for (const replacement of replacements) {
    parts.push(before.slice(from, replacement.start), replacement.text)
    from = replacement.end
  }
  parts.push(before.slice(from, end))
  return trimBlock({
    start,
    end,
    line: numberOf(start),
    removed: splitLines(before.slice(start, end)),
    added: splitLines(parts.join('')),
  })
}

/** Without the unchanged lines at both ends. */
function trimBlock({ start, end, line, removed, added }: Block): Block {
  const shorter = Math.min(removed.length, added.length)
  let head = 0
  while (head < shorter && removed[head] === added[head]) head++
  let tail = 0
  while (tail < shorter - head && removed.at(-1 - tail) === added.at(-1 - tail)) tail++
  return {
    start: start + lengthOf(removed.slice(0, head)),
    end: end - lengthOf(removed.slice(removed.length - tail)),
    line: line + head,
    removed: removed.slice(head, removed.length - tail),
    added: added.slice(head, added.length - tail),
  }
}

/** Blocks whose context would touch become one hunk. */
function groupHunks(before: string, blocks: readonly Block[], context: number): Block[][] {
  const hunks: Block[][] = []
  for (const block of blocks) {
    const last = hunks.at(-1)?.at(-1)
    const between = last && linesAfter(before, last.end, 2 * context + 1, block.start).length
    if (between !== undefined && between <= 2 * context) hunks.at(-1)!.push(block)
    else hunks.push([block])
  }
  return hunks
}

function writeHunk(
  before: string,
  hunk: readonly Block[],
  { context, shift }: { context: number; shift: number },
): string[] {
  const head = linesBefore(before, hunk[0]!.start, context)
  const tail = linesAfter(before, hunk.at(-1)!.end, context)
  const body: string[] = []
  addLines(body, head, ' ')
  for (const [index, block] of hunk.entries()) {
    if (index > 0) addLines(body, linesAfter(before, hunk[index - 1]!.end, 2 * context, block.start), ' ')
    addLines(body, block.removed, '-')
    addLines(body, block.added, '+')
  }
  addLines(body, tail, ' ')
  const removed = body.filter((line) => line[0] !== '+').length
  const added = body.filter((line) => line[0] !== '-').length
  const line = hunk[0]!.line - head.length
  // A range without lines is numbered by the line before it.
  const from = `-${removed === 0 ? line - 1 : line},${removed}`
  const to = `+${added === 0 ? line + shift - 1 : line + shift},${added}`
  return [`@@ ${from} ${to} @@`, ...body.flatMap(writeLine)]
}

/** Adds lines one by one: there can be more of them than a function takes arguments. */
function addLines(list: string[], lines: readonly string[], mark = ''): void {
  for (const line of lines) list.push(mark + line)
}

function writeLine(line: string): string[] {
  const isOpen = !line.endsWith('\n')
  const text = isOpen ? line : line.slice(0, -1)
  const shown =
    text.length > LINE_CHARS ? `${text.slice(0, LINE_CHARS)}… [${text.length - LINE_CHARS} characters left out]` : text
  return isOpen ? [shown, '\\ No newline at end of file'] : [shown]
}

function bound(lines: readonly string[], maxChars: number, blocksLeftOut: number): string {
  let room = maxChars
  const fitting = lines.findIndex((line) => {
    room -= line.length + 1
    return room < 0
  })
  const shown = fitting === -1 ? [...lines] : lines.slice(0, fitting)
  if (fitting !== -1) shown.push(`… [${lines.length - fitting} lines of the diff left out]`)
  if (blocksLeftOut > 0) shown.push(`… [${blocksLeftOut} more changes left out]`)
  return shown.join('\n')
}

function lineStart(file: string, place: number): number {
  return place === 0 ? 0 : file.lastIndexOf('\n', place - 1) + 1
}

/**
 * The position after the last line that a replacement touches; `isFirst` means that its first line is complete before
 * it.
 */
function lineEnd(file: string, { start, end, text }: Replacement, isFirst: boolean): number {
  const endsLine = end > start && file[end - 1] === '\n'
  const leavesLine = text === '' ? isFirst && lineStart(file, start) === start : text.endsWith('\n')
  if (endsLine && leavesLine) return end
  const next = file.indexOf('\n', end)
  return next === -1 ? file.length : next + 1
}

function linesBefore(file: string, place: number, most: number): string[] {
  let start = place
  for (let line = 0; line < most && start > 0; line++) start = lineStart(file, start - 1)
  return splitLines(file.slice(start, place))
}

function linesAfter(file: string, place: number, most: number, limit = file.length): string[] {
  let end = place
  for (let line = 0; line < most && end < limit; line++) {
    const next = file.indexOf('\n', end)
    end = next === -1 ? limit : Math.min(next + 1, limit)
  }
  return splitLines(file.slice(place, end))
}

/** Lines with their line ends. */
function splitLines(text: string): string[] {
  const lines = text.split('\n').map((line) => `${line}\n`)
  const last = lines.pop()!.slice(0, -1)
  return last === '' ? lines : [...lines, last]
}

function lengthOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length, 0)
}
