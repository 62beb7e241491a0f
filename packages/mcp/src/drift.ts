import { DOUBT_DETAILS, lazyModule } from '@tool-hub/core'
import { escapeText } from '@tool-hub/core/lib'
import { hashDefinition, type McpJsonObject, type ServerToolDefinition } from './definitions.ts'

/** The parts of a definition as texts that a person can compare. */
export type PinnedParts = Readonly<Partial<Record<PartName, string>>>

/** The parts of a definition that can change. */
export const PART_NAMES = ['title', 'description', 'input', 'output', 'annotations'] as const

type PartName = (typeof PART_NAMES)[number]

const loadDiff = lazyModule(() => import('diff'))

const MAX_LINES = 20
/** How many lines of each part are compared, starting at the first difference. */
const MAX_COMPARED_LINES = 200
const LINE_CHARS = 100
/**
 * How many characters of a hash are shown in texts that a remembered approval is bound to; enough to rule out
 * collisions.
 */
const HASH_CHARS = 32

/** A definition before and after a change, as far as it is stored. */
export interface Drift {
  readonly before: PinnedParts
  readonly after: PinnedParts
  /** Hash of the whole new definition: tells apart two changes that look alike. */
  readonly hash: string
  /** The pinned definition, if all of it is stored. */
  readonly pinned?: ServerToolDefinition | undefined
  /** Its server added it after the server was first seen. */
  readonly isNew?: true
}

/** Describes what changed in a definition, for the approver. Models see only the first line. */
export async function describeDrift({ before, after, hash, isNew }: Drift): Promise<string> {
  const changed = PART_NAMES.filter((part) => before[part] !== after[part])
  const what = changed.length === 0 ? 'order of its keys or its name' : changed.map((part) => NAMES[part]).join(', ')
  const { structuredPatch } = await loadDiff()
  const lines = changed.flatMap((part) => {
    const { old, now, isCut } = compared(before[part], after[part])
    const patch = structuredPatch('', '', old, now, '', '', { context: 1 })
    const more = isCut ? ['… more lines, which are not compared'] : []
    return [`${NAMES[part]}:`, ...patch.hunks.flatMap((hunk) => hunk.lines), ...more]
  })
  const shown = lines.slice(0, MAX_LINES)
  const left = lines.length - shown.length
  const more = left > 0 ? [`… ${left} more lines`] : []
  const event = isNew ? 'added it since the server' : `changed its ${what} since it`
  const headline = `its server ${event} was first seen (now ${shortHash(hash)})`
  return `${headline}${DOUBT_DETAILS}${[...shown.map(escapeText), ...more].join('\n')}`
}

/** The part of a hash that texts about a definition contain. */
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

/** The lines of both texts starting one line before the first difference. */
function compared(before = '', after = ''): { readonly old: string; readonly now: string; readonly isCut: boolean } {
  const [old, now] = [wrap(before), wrap(after)]
  let same = 0
  while (same < old.length && same < now.length && old[same] === now[same]) same++
  const from = Math.max(0, same - 1)
  const to = from + MAX_COMPARED_LINES
  const text = (lines: readonly string[]) =>
    lines
      .slice(from, to)
      .map((line) => `${line}\n`)
      .join('')
  return { old: text(old), now: text(now), isCut: Math.max(old.length, now.length) > to }
}

/** Breaks long lines, so that a diff shows the words that changed and not a whole page twice. */
function wrap(text: string): string[] {
  return text === '' ? [] : text.split('\n').flatMap((line) => line.match(LINE) ?? [''])
}

const LINE = new RegExp(`[^]{1,${LINE_CHARS}}(?=\\s|$)|[^]{1,${LINE_CHARS}}`, 'gu')

/** What is stored of a definition: enough to show a change, and to show models the definition as it was before. */
export function partsOf(definition: ServerToolDefinition): PinnedParts {
  const parts: Partial<Record<PartName, string>> = {}
  for (const name of PART_NAMES) {
    const value = definition[name]
    if (value === undefined) continue
    parts[name] = typeof value === 'string' ? value : JSON.stringify(value, undefined, 1)
  }
  return parts
}

/** Restores the pinned definition. Returns `undefined` if not all of it was stored. */
export function pinnedDefinition(
  tool: string,
  { hash, parts }: { readonly hash: string; readonly parts: PinnedParts },
): ServerToolDefinition | undefined {
  try {
    const definition = {
      tool,
      title: parts.title,
      description: parts.description ?? '',
      input: parse(parts.input),
      output: parse(parts.output) as McpJsonObject | undefined,
      annotations: (parse(parts.annotations) ?? {}) as McpJsonObject,
    }
    return hashDefinition(definition) === hash ? { ...definition, hash } : undefined
  } catch {
    // A part that is not JSON was not written by `partsOf`.
    return undefined
  }
}

function parse(text: string | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text)
}
