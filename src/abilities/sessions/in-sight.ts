import type { HistoryEntry } from '../../contracts/sessions.ts'
import type { StoredSession } from '../../store-parts/sessions.ts'
import { OWNER } from './bounds.ts'
import type { SessionBook } from './session-book.ts'

/** Tools whose results tell of sessions. */
const TELLS_OF_SESSIONS = 'core/session.'

/** What a session is shown of a history: in that of one above it, nothing of those that lie beside it. */
export async function inSight(
  book: SessionBook,
  own: StoredSession,
  of: StoredSession,
  entries: readonly HistoryEntry[],
): Promise<readonly HistoryEntry[]> {
  if (of.depth >= own.depth) return entries
  const names = entries.flatMap((entry) => (entry.type === 'message' ? [entry.message.from, entry.message.to] : []))
  const seen = await book.seen(own, names)
  const isSeen = (name: string) => name === OWNER || seen.has(name)
  return entries.flatMap((entry): HistoryEntry[] => {
    if (entry.type === 'call') return [entry.tool.startsWith(TELLS_OF_SESSIONS) ? { ...entry, summary: '' } : entry]
    return isSeen(entry.message.from) && isSeen(entry.message.to) ? [entry] : []
  })
}
