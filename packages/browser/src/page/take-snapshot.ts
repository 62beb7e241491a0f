import { type Artifact, type FeatureCall, ToolError } from '@tool-hub/core'
import type { Tab } from './tab.ts'

const INDENT = 2

const MAX_LINE_CHARS = 600

const NOTE_CHARS = 40

/** What to look at. */
export interface SnapshotRequest {
  readonly ref?: string
  readonly depth?: number
  readonly maxChars?: number
}

/** The timeout and the abort signal of an action. */
export interface ActionLimits {
  readonly timeout: number
  readonly signal: AbortSignal
}

/** Playwright waits for a refused frame until the timeout, so the first attempt has a short one. */
const FRAMES_MS = 2_000
const MAX_CHARS = 20_000
const MAX_LINES = 1_500
const MAX_NODES = 200_000
const MAX_ARTIFACT_CHARS = 4_000_000

/** The accessibility tree of a page or of one element, cut to what a model can read; the whole becomes an artifact. */
export async function takeSnapshot(tab: Tab, request: SnapshotRequest, patience: ActionLimits, call: FeatureCall) {
  const { ref, depth, maxChars = MAX_CHARS } = request
  await refuseGiant(tab)
  const place = ref === undefined ? tab.page : await tab.element(ref)
  const look = ({ timeout, signal }: ActionLimits) =>
    place.ariaSnapshot({ mode: 'ai', timeout, signal, ...(depth !== undefined && { depth }) })
  const whole = await look({ ...patience, timeout: Math.min(FRAMES_MS, patience.timeout) }).catch((error) => {
    if (error instanceof Error && error.name === 'TimeoutError') return look(patience)
    throw error
  })
  const { text, isCut } = boundSnapshot(whole, { maxChars, maxLines: MAX_LINES })
  const artifact = isCut ? await keepWhole(whole, call) : undefined
  return { text, chars: whole.length, isCut, ...(artifact && { artifact }) }
}

/** The tree is built on the main thread of the page and cannot be interrupted, so very large pages are refused. */
async function refuseGiant(tab: Tab): Promise<void> {
  const session = await tab.session()
  const { metrics } = await session.send('Performance.getMetrics')
  const nodes = metrics.find(({ name }) => name === 'Nodes')?.value ?? 0
  if (nodes <= MAX_NODES) return
  throw new ToolError('FILE_TOO_LARGE', `The page has ${nodes} nodes, the limit of a snapshot is ${MAX_NODES}.`, {
    hint: 'Take a screenshot, or use evaluate to read the part that you need.',
  })
}

/** Stores the whole snapshot as an artifact; returns `undefined` if artifacts are not available. */
async function keepWhole(text: string, call: FeatureCall): Promise<Artifact | undefined> {
  try {
    return await call.artifact(text.slice(0, MAX_ARTIFACT_CHARS), { name: 'snapshot.yaml', mediaType: 'text/yaml' })
  } catch (error) {
    if (ToolError.is(error) && error.code === 'RECORDS_UNAVAILABLE') return undefined
    throw error
  }
}

/** How much of a snapshot a model gets. */
interface SnapshotBounds {
  readonly maxChars: number
  readonly maxLines: number
}

/** What is left of a snapshot. */
interface BoundedSnapshot {
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
  return length > MAX_LINE_CHARS
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
  return Math.min(text.length, MAX_LINE_CHARS) + NOTE_CHARS
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
  const short = isLong(text) ? `${text.slice(0, MAX_LINE_CHARS)}…` : text
  return missing > 0 ? `${short} … ${missing} lines left out` : short
}
