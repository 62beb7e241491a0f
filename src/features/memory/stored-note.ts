import { z } from 'zod'
import { parseJson } from '../../lib/index.ts'
import { scopeOf } from './scope-keys.ts'
import type { StoredNote } from './store.ts'
import type { MemoryNote, NoteOrigin } from './types.ts'

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
