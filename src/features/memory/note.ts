import { z } from 'zod'
import { type FeatureHost, ToolError } from '../../core/index.ts'
import { parseJson } from '../../lib/index.ts'
import type { MemorySettings } from './memory-settings.ts'
import type { StoredNote } from './store.ts'
import { MEMORY_SCOPES, type MemoryNote, type MemoryScope, type NoteOrigin } from './types.ts'

const text = z.string().max(1_000).optional()

/** Milliseconds since 1970, up to the last that a date can have. */
export const noteTime = z.number().min(0).max(8.64e15)

/** Where a note comes from, as it is kept. */
export const noteOrigin = z.object({
  run: text,
  session: text,
  callId: text,
  caller: text,
  principal: text,
  tainted: z.boolean(),
  reviewed: z.boolean(),
  promotedBy: text,
  importedBy: text,
  at: noteTime,
})

/** A note of the store as its owner sees it; of one whose origin cannot be read, the worst is taken. */
export function toNote({ id, scope, text, tags, origin, createdAt, updatedAt }: StoredNote): MemoryNote {
  const parsed = noteOrigin.safeParse(parseJson(origin))
  return {
    id,
    scope: scopeOf(scope) ?? 'shared',
    key: scope,
    content: text,
    tags,
    createdAt,
    updatedAt,
    origin: parsed.success ? (parsed.data as NoteOrigin) : { tainted: true, reviewed: false, at: createdAt },
  }
}

/** Whether nobody has looked at words that may be a stranger's. */
export function isUntrusted({ tainted, reviewed }: NoteOrigin): boolean {
  return tainted && !reviewed
}

/** Whether words of a stranger stay in a note when this of it is changed. */
export function keepsUntrusted(
  { origin }: MemoryNote,
  { content, tags }: { readonly content?: string; readonly tags?: readonly string[] },
): boolean {
  return isUntrusted(origin) && (content === undefined || tags === undefined)
}

/** Who writes or looks. */
interface Whose {
  readonly run: string
  readonly session: string
  readonly caller: string
  readonly principal: string | undefined
}

/**
 * The scopes of one call, each with whose it is; what an agent cannot name it cannot reach. A session is known by a
 * name that its caller chose, so with a principal it is one of that principal.
 */
export function scopeKeys({ run, session, caller, principal }: Whose): Readonly<Record<MemoryScope, string>> {
  const own = encodeURIComponent(wholeText(session))
  return {
    run: `run:${run}`,
    session: principal === undefined ? `session:${own}` : `session:${own}@${principal}`,
    agent: `agent:${principal ?? wholeText(caller)}`,
    shared: 'shared',
  }
}

/** The word of a key that policy and people know: `agent` of `agent:token:ci`. */
export function scopeOf(key: string): MemoryScope | undefined {
  return MEMORY_SCOPES.find((scope) => key === scope || (scope !== 'shared' && key.startsWith(`${scope}:`)))
}

const MAX_TAGS = 16
const MAX_TAG_LENGTH = 64

/** A text that a store can hold: whole characters, no secrets, not too long. */
export function cleanContent(
  content: string,
  { noteChars }: Pick<MemorySettings, 'noteChars'>,
  host: Pick<FeatureHost, 'redact'>,
): { readonly content: string; readonly hidSecret: boolean } {
  const clean = wholeText(content)
  const redacted = host.redact(clean)
  if (redacted.trim() === '')
    throw invalid('A note says something: this one is empty.', 'Write what is to be remembered.')
  if (redacted.length > noteChars) {
    const message = `The note has ${redacted.length} characters, the limit is ${noteChars}.`
    throw invalid(message, 'Write the gist of it, or several notes; keep long texts in a file.')
  }
  return { content: redacted, hidSecret: redacted !== clean }
}

/** Tags without blanks around them and without doubles. */
export function cleanTags(tags: readonly string[], host: Pick<FeatureHost, 'redact'>): readonly string[] {
  const clean = tags.map((tag) => host.redact(wholeText(tag)).trim()).filter((tag) => tag !== '')
  const distinct = [...new Set(clean)]
  if (distinct.length > MAX_TAGS)
    throw invalid(`A note has at most ${MAX_TAGS} tags, not ${distinct.length}.`, 'Use fewer tags.')
  const long = distinct.find((tag) => tag.length > MAX_TAG_LENGTH)
  if (long === undefined) return distinct
  throw invalid(`A tag has at most ${MAX_TAG_LENGTH} characters, not ${long.length}.`, 'Use a shorter one.')
}

/** Halves of characters and NUL, which no file holds as they are, become the mark of what was lost. */
export function wholeText(text: string): string {
  return text.replace(/[\0\p{Surrogate}]/gu, '\ufffd')
}

function invalid(message: string, hint: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, { hint })
}
