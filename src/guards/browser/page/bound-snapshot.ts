/** How much of a snapshot a model gets. */
export interface SnapshotBounds {
  readonly maxChars: number
  readonly maxLines: number
}

/** What is left of a snapshot. */
export interface BoundedSnapshot {
  readonly text: string
  readonly isCut: boolean
}

interface Line {
  readonly text: string
  readonly depth: number
  readonly parent: Line | undefined
  /** Lines below it that are left out. */
  missing: number
  isKept: boolean
}

const INDENT = 2
const MOST_LINE_CHARS = 600
const NOTE_CHARS = 40

/**
 * Leaves out the deepest parts of a snapshot until it fits: what is near the top of the tree tells what the page is. What
 * room is left goes to what comes first. Each element that has lost something says how much, and by its ref it can be
 * looked at alone.
 */
export function boundSnapshot(snapshot: string, { maxChars, maxLines }: SnapshotBounds): BoundedSnapshot {
  const texts = snapshot.split('\n')
  if (snapshot.length <= maxChars && texts.length <= maxLines && !texts.some(isLong)) {
    return { text: snapshot, isCut: false }
  }
  const lines = treeOf(texts)
  const { depth, chars, count } = deepestFit(lines, maxChars, maxLines)
  let [charsLeft, linesLeft] = [maxChars - chars, maxLines - count]
  for (const line of lines) {
    const cost = costOf(line)
    const isDeep = line.depth > depth
    line.isKept = !isDeep || (line.parent?.isKept === true && charsLeft >= cost && linesLeft > 0)
    if (!isDeep || !line.isKept) continue
    charsLeft -= cost
    linesLeft -= 1
  }
  countMissing(lines)
  const text = lines.filter(({ isKept }) => isKept).map(shown)
  return { text: text.join('\n').slice(0, maxChars + NOTE_CHARS), isCut: true }
}

function isLong({ length }: string): boolean {
  return length > MOST_LINE_CHARS
}

function treeOf(texts: readonly string[]): Line[] {
  const lines: Line[] = []
  const above: Line[] = []
  for (const text of texts) {
    const depth = Math.floor((text.length - text.trimStart().length) / INDENT)
    while (above.length > 0 && above.at(-1)!.depth >= depth) above.pop()
    const line = { text, depth, parent: above.at(-1), missing: 0, isKept: true }
    above.push(line)
    lines.push(line)
  }
  return lines
}

/** The greatest depth whose lines all fit, and what they take; 0 when not even the top does. */
function deepestFit(lines: readonly Line[], maxChars: number, maxLines: number) {
  const chars: number[] = []
  const counts: number[] = []
  for (const line of lines) {
    chars[line.depth] = (chars[line.depth] ?? 0) + costOf(line)
    counts[line.depth] = (counts[line.depth] ?? 0) + 1
  }
  let fit = { depth: 0, chars: chars[0] ?? 0, count: counts[0] ?? 0 }
  for (let depth = 1; depth < chars.length; depth++) {
    const next = { depth, chars: fit.chars + (chars[depth] ?? 0), count: fit.count + (counts[depth] ?? 0) }
    if (next.chars > maxChars || next.count > maxLines) break
    fit = next
  }
  return fit
}

function costOf({ text }: Line): number {
  return Math.min(text.length, MOST_LINE_CHARS) + NOTE_CHARS
}

/** Each line that is left out counts at the nearest one above it that is not. */
function countMissing(lines: readonly Line[]): void {
  for (const line of lines) {
    if (line.isKept) continue
    let above = line.parent
    while (above && !above.isKept) above = above.parent
    if (above) above.missing += 1
  }
}

function shown({ text, missing }: Line): string {
  const short = isLong(text) ? `${text.slice(0, MOST_LINE_CHARS)}…` : text
  return missing > 0 ? `${short} … ${missing} lines left out` : short
}
