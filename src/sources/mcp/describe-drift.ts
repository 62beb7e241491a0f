import { lazyModule } from '../../disk/lazy-module.ts'
import { escapeText } from '../../value/escape-text.ts'
import { PART_NAMES, type PartName, type PinnedParts } from './pinned-parts.ts'

const loadDiff = lazyModule(() => import('diff'))

const MOST_LINES = 20
const LINE_CHARS = 100
/** Of a hash in a text that a remembered yes is bound to: so many that no two are made with the same. */
const HASH_CHARS = 32

/** A definition before and after, as far as it was kept. */
export interface Drift {
  readonly before: PinnedParts
  readonly after: PinnedParts
  /** Of the whole of it now: two changes that look alike are still told apart. */
  readonly hash: string
}

/** What changed in a definition, for the person who is asked about the tool. */
export async function describeDrift({ before, after, hash }: Drift): Promise<string> {
  const changed = PART_NAMES.filter((part) => before[part] !== after[part])
  const what = changed.length === 0 ? 'order of its keys or its name' : changed.map((part) => NAMES[part]).join(', ')
  const { structuredPatch } = await loadDiff()
  const lines = changed.flatMap((part) => {
    const patch = structuredPatch('', '', wrap(before[part]), wrap(after[part]), '', '', { context: 1 })
    return [`${NAMES[part]}:`, ...patch.hunks.flatMap((hunk) => hunk.lines.filter(isOfText))]
  })
  const shown = lines.slice(0, MOST_LINES)
  const left = lines.length - shown.length
  const more = left > 0 ? [`… ${left} more lines`] : []
  const headline = `its server changed its ${what} since it was first seen (now ${shortHash(hash)})`
  return [headline, ...shown.map(escapeText), ...more].join('\n')
}

/** The part of a hash that texts about a definition hold. */
export function shortHash(hash: string): string {
  return hash.slice(0, HASH_CHARS)
}

const NAMES: Record<PartName, string> = {
  title: 'title',
  description: 'description',
  input: 'input schema',
  output: 'output schema',
  annotations: 'annotations',
}

/** Long lines are broken, so that a diff shows the words that changed and not a whole page twice. */
function wrap(text = ''): string {
  return text
    .split('\n')
    .flatMap((line) => line.match(LINE) ?? [''])
    .join('\n')
}

const LINE = new RegExp(`[^]{1,${LINE_CHARS}}(?=\\s|$)|[^]{1,${LINE_CHARS}}`, 'gu')

function isOfText(line: string): boolean {
  return !line.startsWith('\\')
}
