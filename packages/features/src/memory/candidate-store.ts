import type { Awaitable } from '@tool-hub/core'
import { count, entity, get, json, page, type Repository, run, transaction } from '@tool-hub/core/sql'
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
export interface StoredCandidate {
  /** Unique among all candidates. */
  readonly id: string
  /** The run that wrote it. */
  readonly run: string
  /** Whether somebody has decided, and how. */
  readonly state: MemoryCandidate['state']
  /** When it was written. */
  readonly at: number
  /** The note and its origin. */
  readonly note: NewCandidate
  /** The decision; absent while it waits. */
  readonly review?: CandidateReview
}

/** The table of candidates. */
export const CANDIDATE_TABLE = `
CREATE TABLE memory_candidates (
  id TEXT PRIMARY KEY,
  run TEXT NOT NULL,
  state TEXT NOT NULL,
  written_at BIGINT NOT NULL,
  note TEXT NOT NULL,
  review TEXT
);
CREATE INDEX memory_candidates_run ON memory_candidates (run);
CREATE INDEX memory_candidates_state ON memory_candidates (state, written_at);
`

const CANDIDATES = entity<StoredCandidate>('memory_candidates', {
  id: 'id',
  run: 'run',
  state: 'state',
  at: 'written_at',
  note: json('note'),
  review: json('review'),
})
const LIST = { select: `SELECT ${CANDIDATES.columns} FROM memory_candidates`, order: 'written_at DESC, id DESC' }
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
  *find(id) {
    const row = yield* get(`${LIST.select} WHERE id = ?`, id)
    return row ? CANDIDATES.read(row) : undefined
  },
  *list({ run: of, state, limit }) {
    const rows = yield* page(
      LIST,
      [
        ['run = ?', of],
        ['state = ?', state],
      ],
      limit,
    )
    return rows.map((row) => CANDIDATES.read(row))
  },
  *review(id, review) {
    return (yield* run(REVIEW, review.decision, JSON.stringify(review), id)) === 1
  },
}

/** Removes the candidates of runs that were removed. */
export function sweepCandidates() {
  return run(REMOVE_WITH_RUNS)
}
