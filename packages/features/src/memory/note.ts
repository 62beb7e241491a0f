import { type FeatureHost, ToolError } from '@tool-hub/core'
import { parseJson } from '@tool-hub/core/lib'
import { z } from 'zod'
import type { MemorySettings } from './memory-settings.ts'
import type { StoredNote } from './store.ts'
import { MEMORY_SCOPES, type MemoryNote, type MemoryScope, type NoteOrigin } from './types.ts'

const text = z.string().max(1_000).optional()

/** Milliseconds since 1970, within the range of `Date`. */
export const noteTime = z.number().min(0).max(8.64e15)

/** A stored or imported origin. It has limits that `noteOriginEntry` lacks, because an import can contain anything. */
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

/** A note of the store as the owner sees it; it counts as untrusted if its origin cannot be read. */
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
    origin: parsed.success ? parsed.data : { tainted: true, reviewed: false, at: createdAt },
  }
}

/** Whether a note may contain untrusted content that nobody has reviewed. */
export function isUntrusted({ tainted, reviewed }: NoteOrigin): boolean {
  return tainted && !reviewed
}

/** Whether untrusted content stays in a note after this change. */
export function keepsUntrusted(
  { origin }: MemoryNote,
  { content, tags }: { readonly content?: string; readonly tags?: readonly string[] },
): boolean {
  return isUntrusted(origin) && (content === undefined || tags === undefined)
}

/** Who reads or writes. */
interface Whose {
  readonly run: string
  readonly session: string
  readonly caller: string
  readonly principal: string | undefined
}

/**
 * The keys of the scopes of one call; agents name scopes, never keys, so they cannot reach those of others. Callers
 * choose the names of sessions, so the key of a session contains the principal, if there is one.
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

/** The scope of a key: `agent` of `agent:token:ci`. */
export function scopeOf(key: string): MemoryScope | undefined {
  return MEMORY_SCOPES.find((scope) => key === scope || (scope !== 'shared' && key.startsWith(`${scope}:`)))
}

const MAX_TAGS = 16
const MAX_TAG_LENGTH = 64

/** Prepares a text for the store: valid Unicode, without secrets. Throws if it is empty or too long. */
export function cleanContent(
  content: string,
  { noteChars }: Pick<MemorySettings, 'noteChars'>,
  host: Pick<FeatureHost, 'redact'>,
): { readonly content: string; readonly hidSecret: boolean } {
  const clean = wholeText(content)
  const redacted = host.redact(clean)
  if (redacted.trim() === '') throw invalid('The note is empty.', 'Write what should be remembered.')
  if (redacted.length > noteChars) {
    const message = `The note has ${redacted.length} characters, the limit is ${noteChars}.`
    throw invalid(message, 'Write a summary or several notes; put long texts into a file.')
  }
  return { content: redacted, hidSecret: redacted !== clean }
}

/** Tags, trimmed and without duplicates. */
export function cleanTags(tags: readonly string[], host: Pick<FeatureHost, 'redact'>): readonly string[] {
  const clean = tags.map((tag) => host.redact(wholeText(tag)).trim()).filter((tag) => tag !== '')
  const distinct = [...new Set(clean)]
  if (distinct.length > MAX_TAGS)
    throw invalid(`A note has at most ${MAX_TAGS} tags, not ${distinct.length}.`, 'Use fewer tags.')
  const long = distinct.find((tag) => tag.length > MAX_TAG_LENGTH)
  if (long === undefined) return distinct
  throw invalid(`A tag has at most ${MAX_TAG_LENGTH} characters, not ${long.length}.`, 'Use a shorter tag.')
}

/** Replaces NUL and lone surrogates, which cannot be stored, with U+FFFD. */
export function wholeText(text: string): string {
  return text.replace(/[\0\p{Surrogate}]/gu, '\ufffd')
}

function invalid(message: string, hint: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, { hint })
}
