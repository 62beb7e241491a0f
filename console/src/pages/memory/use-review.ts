import { useState } from 'react'
import { api } from '../../api/api.ts'
import { refreshQueries } from '../../api/query-cache.ts'
import type { MemoryCandidateEntry } from '../../api/types.ts'
import { showFailure } from '../../components/show-failure.ts'
import { lastReview } from './last-review.ts'

type Change = Parameters<typeof api.memory.promote>[1]

/** Decides on a candidate, once at a time. */
export interface Review {
  readonly isBusy: boolean
  /** A failure is told in a toast. */
  promote(): Promise<void>
  /** With another scope, tags or text; a failure is thrown, for the form to show. */
  promoteOrThrow(change: Change): Promise<void>
  reject(reason: string): Promise<void>
}

const LONGEST = 60

/** Promotes or rejects a candidate; the first decision holds, and who was later is told so. */
export function useReview({ id, content }: MemoryCandidateEntry, onDone: () => void): Review {
  const [isBusy, setBusy] = useState(false)
  const decide = async (isYes: boolean, work: () => Promise<unknown>) => {
    if (isBusy) return
    setBusy(true)
    try {
      await work()
      const subject = content.length > LONGEST ? `${content.slice(0, LONGEST)}…` : content
      lastReview.set({ words: isYes ? 'Promoted' : 'Rejected', isYes, subject, at: Date.now() })
      onDone()
    } finally {
      setBusy(false)
      refreshQueries('memory')
    }
  }
  const promoteOrThrow = (change: Change) => decide(true, () => api.memory.promote(id, change))
  return {
    isBusy,
    promoteOrThrow,
    promote: () => promoteOrThrow({}).catch((error) => showFailure('Not promoted', error)),
    reject: (reason) =>
      decide(false, () => api.memory.reject(id, reason || undefined)).catch((error) =>
        showFailure('Not rejected', error),
      ),
  }
}
