import type { MemoryCandidate } from './memory.ts'

/** A note on its way into the archive of a run. */
export type NewCandidate = Omit<MemoryCandidate, 'state' | 'review'>

/** What a person decided on a candidate. */
export interface CandidateReview {
  readonly id: string
  readonly decision: 'promoted' | 'rejected'
  readonly by: string
  readonly at: number
  readonly reason?: string
  readonly note?: string
}

/** The notes that wait in the archives of runs. */
export interface CandidateArchive {
  /** On the disk itself when it resolves; BUDGET_EXCEEDED when the run has so many. */
  add(candidate: NewCandidate, options: { readonly maxInRun: number }): Promise<void>
  find(id: string): Promise<MemoryCandidate | undefined>
  /** Newest first. */
  list(filter: {
    readonly run?: string
    readonly state: MemoryCandidate['state'] | 'all'
    readonly limit: number
  }): Promise<readonly MemoryCandidate[]>
  /**
   * Decides on a candidate that waits, one at a time over all processes: `work` makes what follows from it, and its
   * review is kept when that is done. Gives back the candidate as it was when it had been decided before.
   */
  decide(
    id: string,
    work: (candidate: MemoryCandidate) => Promise<CandidateReview>,
  ): Promise<
    | { readonly won: true; readonly review: CandidateReview }
    | { readonly won: false; readonly candidate: MemoryCandidate }
  >
}
