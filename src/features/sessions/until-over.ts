import type { SessionParts } from './session-parts.ts'
import type { StoredSession } from './session-store.ts'

/** A session when it is over; undefined when that is not so in time. */
export async function untilOver(
  { wakes, book }: Pick<SessionParts, 'wakes' | 'book'>,
  { id }: StoredSession,
  { waitMs, signal }: { readonly waitMs: number; readonly signal?: AbortSignal },
): Promise<StoredSession | undefined> {
  if (waitMs <= 0) return undefined
  const look = async () => {
    const now = await book.find(id)
    return now?.state === 'running' ? undefined : now
  }
  return wakes.until({ subjects: [id], look, withinMs: waitMs, signal })
}
