import { api } from '../../api/session.ts'
import type { MemoryCandidateEntry } from '../../api/types.ts'
import { type Action, useAction } from '../../api/use-resource.ts'
import type { Done } from '../../components/split-view.tsx'
import { createValue } from '../../lib/watched-value.ts'

type Change = Parameters<typeof api.memory.promote>[1]

/** The decisions about a candidate. */
export interface Review {
  /** With another scope, tags or text, if they were edited. */
  readonly promote: Action<Change>
  readonly reject: Action<string>
}

const MAX_SUBJECT_CHARS = 60

/** Promotes or rejects a candidate. The first decision counts; a later one fails. */
export function useReview({ id, content }: MemoryCandidateEntry, onDone: () => void): Review {
  const finish = (isYes: boolean) => {
    const subject = content.length > MAX_SUBJECT_CHARS ? `${content.slice(0, MAX_SUBJECT_CHARS)}…` : content
    lastReview.set({ words: isYes ? 'Promoted' : 'Rejected', isYes, subject, at: Date.now() })
    onDone()
  }
  const promote = useAction(
    async (change: Change) => {
      await api.memory.promote(id, change)
      finish(true)
    },
    { failure: 'Not promoted', refreshes: ['memory'] },
  )
  const reject = useAction(
    async (reason: string) => {
      await api.memory.reject(id, reason || undefined)
      finish(false)
    },
    { failure: 'Not rejected', refreshes: ['memory'] },
  )
  return { promote, reject }
}

/** What was decided last on this page. */
export const lastReview = createValue<Done | undefined>(undefined)

/** The address of a candidate, or of the list. */
export function candidatePath(id: string | undefined): string {
  return id === undefined ? '/memory' : `/memory/${encodeURIComponent(id)}`
}
