import type { Awaitable } from '@tool-hub/core'
import {
  type Condition,
  column,
  count,
  defineTable,
  optional,
  type Repository,
  type Row,
  run,
  transaction,
} from '@tool-hub/core/sql'
import type { CandidateReview, NewCandidate } from './candidates.ts'
import type { MemoryCandidate } from './types.ts'

/** Notes that wait for review, in a store that processes on several machines share. */
export interface CandidateStore {
  /** Adds a candidate. Returns how many its run has if these are `maxInRun`, and `undefined` if it was added. */
  add(candidate: StoredCandidate, options: { readonly maxInRun: number }): Awaitable<number | undefined>
  /** A candidate by its id; `undefined` if there is none. */
  find(id: string): Awaitable<StoredCandidate | undefined>
  /** Candidates, newest first. */
  list(filter: {
    /** Only those of this run. */
    readonly run?: string
    /** Only those in this state. */
    readonly state?: MemoryCandidate['state']
    /** Maximum number of candidates. */
    readonly limit: number
  }): Awaitable<readonly StoredCandidate[]>
  /** Stores the decision; false if there was one before, or if the candidate does not exist. */
  review(id: string, review: CandidateReview): Awaitable<boolean>
}

/** A note that waits for review, or was reviewed. */
export type StoredCandidate = Row<typeof CANDIDATES>

/** The table of candidates. */
export const CANDIDATES = defineTable(
  'memory_candidates',
  25,
  {
    /** Unique among all candidates. */
    id: column.text({ key: true }),
    /** The run that wrote it. */
    run: column.text(),
    /** Whether somebody has decided, and how. */
    state: column.text<MemoryCandidate['state']>(),
    /** When it was written. */
    at: column.bigint({ name: 'written_at' }),
    /** The note and its origin. */
    note: column.json<NewCandidate>(),
    /** The decision; absent while it waits. */
    review: optional.json<CandidateReview>(),
  },
  { indexes: { run: ['run'], state: ['state', 'at'] } },
)
const REVIEW = `UPDATE memory_candidates SET state = ?, review = ? WHERE id = ? AND state = 'waiting'`
/** Like the archive of a run, its candidates are removed with it. */
const REMOVE_WITH_RUNS = `DELETE FROM memory_candidates
 WHERE run IN (SELECT run FROM run_heads WHERE removed_by IS NOT NULL)
 AND run NOT IN (SELECT run FROM run_heads WHERE removed_by IS NULL)`

/** Candidates. */
export const candidateRepository: Repository<CandidateStore> = {
  add: (candidate, { maxInRun }) =>
    transaction(function* () {
      const held = yield* count('memory_candidates WHERE run = ?', candidate.run)
      if (held >= maxInRun) return held
      yield* run(CANDIDATES.insert, ...CANDIDATES.values(candidate))
      return undefined
    }),
  find: (id) => CANDIDATES.find('WHERE id = ?', id),
  *list({ run: of, state, limit }) {
    const conditions: Condition[] = [
      ['run = ?', of],
      ['state = ?', state],
    ]
    return yield* CANDIDATES.page('written_at DESC, id DESC', conditions, limit)
  },
  *review(id, review) {
    return (yield* run(REVIEW, review.decision, JSON.stringify(review), id)) === 1
  },
}

/** Removes the candidates of runs that were removed. */
export function sweepCandidates() {
  return run(REMOVE_WITH_RUNS)
}
