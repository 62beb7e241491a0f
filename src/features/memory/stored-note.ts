import { z } from 'zod'
import { parseJson } from '../../lib/index.ts'
import { wholeText } from './clean-note.ts'
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
