import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Awaitable, type FeatureHost, ToolError } from '../../core/index.ts'
import { count, entity, get, json, page, type Repository, run, transaction } from '../../core/sql/index.ts'
import {
  assertReadable,
  type CandidateArchive,
  type CandidateReview,
  type NewCandidate,
  tooManyCandidates,
  unknownCandidate,
  withReview,
} from './candidates.ts'
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
  /** Stores the decision; false if there was one before, or if there is no such candidate. */
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

const LOCK_MS = 60_000
const LOCK_WAIT_MS = 15_000
const LOCK_STEP_MS = 50

/** The candidates in a store that processes on several machines share. */
export function openStoredCandidates({ store, clock }: Pick<FeatureHost, 'store' | 'clock'>): CandidateArchive {
  const { memoryCandidates: candidates } = store
  const find = async (id: string) => {
    const found = await candidates.find(id)
    return found && withReview(found.note, found.review)
  }
  return {
    find,
    async add(note, { maxInRun }) {
      assertReadable(note)
      const { id, run: of, origin } = note
      const held = await candidates.add({ id, run: of, state: 'waiting', at: origin.at, note }, { maxInRun })
      if (held !== undefined) throw tooManyCandidates(of, held)
    },
    async list({ run: of, state, limit }) {
      const found = await candidates.list({ run: of, state: state === 'all' ? undefined : state, limit })
      return found.map(({ note, review }) => withReview(note, review))
    },
    async decide(id, work) {
      if (!(await find(id))) throw unknownCandidate(id)
      const release = await lockReview(id, { store, clock })
      try {
        const candidate = (await find(id))!
        if (candidate.state !== 'waiting') return { won: false, candidate }
        const review = await work(candidate)
        if (await candidates.review(id, review)) return { won: true, review }
        return { won: false, candidate: (await find(id))! }
      } finally {
        await release()
      }
    },
  }
}

/** One person at a time decides on a candidate, on whatever machine. */
async function lockReview(
  id: string,
  { store, clock }: Pick<FeatureHost, 'store' | 'clock'>,
): Promise<() => Promise<void>> {
  const slot = `memory-review:${id}`
  const owner = randomBytes(9).toString('hex')
  for (let waitedMs = 0; ; waitedMs += LOCK_STEP_MS) {
    const now = clock.now()
    if (await store.slots.lease(slot, { owner, now, until: now + LOCK_MS })) break
    if (waitedMs >= LOCK_WAIT_MS)
      throw new ToolError('CONFLICT', `The review of ${id} is in progress.`, {
        hint: 'Try again in a moment: somebody else decides on this note.',
        retryable: true,
      })
    await sleep(LOCK_STEP_MS)
  }
  // If it cannot be released, it expires.
  return async () => {
    try {
      await store.slots.release(slot, owner)
    } catch {}
  }
}
