import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type FeatureHost, isRunId, type RunArchives, ToolError } from '@tool-hub/core'
import { z } from 'zod'
import { MEMORY_SCOPES, type MemoryCandidate } from './types.ts'

/** A candidate to add to the archive of its run. */
export type NewCandidate = Omit<MemoryCandidate, 'state' | 'review'>

/** The decision on a candidate. */
export interface CandidateReview {
  readonly id: string
  readonly decision: 'promoted' | 'rejected'
  readonly by: string
  readonly at: number
  readonly reason?: string
  readonly note?: string
}

/** The notes that wait for review in the archives of runs. */
export interface CandidateArchive {
  /** Adds a candidate; it survives a crash when this resolves. BUDGET_EXCEEDED if the run has `maxInRun` of them. */
  add(candidate: NewCandidate, options: { readonly maxInRun: number }): Promise<void>
  /** A candidate by its id; `undefined` if there is none. */
  find(id: string): Promise<MemoryCandidate | undefined>
  /** Candidates, newest first. */
  list(filter: {
    readonly run?: string
    readonly state: MemoryCandidate['state'] | 'all'
    readonly limit: number
  }): Promise<readonly MemoryCandidate[]>
  /**
   * Decides on a candidate, one at a time across all processes: `work` carries out the decision, and the review that it
   * returns is stored. If the candidate was decided before, returns it unchanged.
   */
  decide(
    id: string,
    work: (candidate: MemoryCandidate) => Promise<CandidateReview>,
  ): Promise<
    | { readonly won: true; readonly review: CandidateReview }
    | { readonly won: false; readonly candidate: MemoryCandidate }
  >
}

/** The candidates of a run and the reviews of them; both files are only appended to. */
const NOTES = 'memory.jsonl'
const REVIEWS = 'memory-reviews.jsonl'
const LOCK = 'memory-reviews.lock'
const CANDIDATE_ID = /^(.+)\.[0-9a-f]{16}$/

const text = z.string().max(1_000)
const origin = z.object({
  run: text.optional(),
  session: text.optional(),
  callId: text.optional(),
  caller: text.optional(),
  principal: text.optional(),
  tainted: z.boolean(),
  reviewed: z.boolean(),
  at: z.number(),
})
const noteLine = z.object({
  id: z.string().regex(CANDIDATE_ID),
  run: text,
  scope: z.enum(MEMORY_SCOPES),
  key: text,
  content: z.string().max(100_000),
  tags: z.array(z.string().max(200)).max(100),
  replaces: text.optional(),
  origin,
})
const reviewLine = z.object({
  id: text,
  decision: z.enum(['promoted', 'rejected']),
  by: text,
  at: z.number(),
  reason: z.string().max(10_000).optional(),
  note: text.optional(),
})

/** The candidates in the archives of runs. */
export function openCandidates(archives: RunArchives): CandidateArchive {
  const find = async (id: string) => {
    const run = runOf(id)
    return run === undefined ? undefined : (await readRun(archives, run)).find((candidate) => candidate.id === id)
  }
  return {
    find,
    async add(candidate, { maxInRun }) {
      assertReadable(candidate)
      const waiting = (await readRun(archives, candidate.run)).length
      if (waiting >= maxInRun) throw tooManyCandidates(candidate.run, waiting)
      await archives.append(candidate.run, NOTES, candidate)
    },
    async list({ run, state, limit }) {
      const runs = run === undefined ? await archives.runs() : [run].filter(isRunId)
      const found: MemoryCandidate[] = []
      for (const id of runs) {
        found.push(...(await readRun(archives, id)).filter((candidate) => state === 'all' || candidate.state === state))
        // Limits the memory used if there are many runs.
        if (found.length > 2 * limit) keepNewest(found, limit)
      }
      return keepNewest(found, limit)
    },
    async decide(id, work) {
      const run = runOf(id)
      const known = run === undefined ? undefined : await find(id)
      if (run === undefined || !known) throw unknownCandidate(id)
      const lock = await archives.lock(run, LOCK, {
        what: `The review of run ${run}`,
        hint: 'Try again in a moment: another review of this run is in progress.',
      })
      try {
        const candidate = (await find(id))!
        if (candidate.state !== 'waiting') return { won: false, candidate }
        const review = await work(candidate)
        await archives.append(run, REVIEWS, review)
        return { won: true, review }
      } finally {
        lock.release()
      }
    },
  }
}

/** Throws if the candidate could not be read back. */
export function assertReadable(candidate: NewCandidate): void {
  const [issue] = noteLine.safeParse(candidate).error?.issues ?? []
  if (!issue) return
  throw new ToolError('INPUT_SCHEMA_INVALID', `The note cannot be stored: ${issue.path.join('.')}: ${issue.message}.`, {
    hint: 'Use shorter names for the caller and the session.',
  })
}

/** Newest first. */
function keepNewest(candidates: MemoryCandidate[], limit: number): MemoryCandidate[] {
  candidates.sort((a, b) => b.origin.at - a.origin.at || (a.id < b.id ? 1 : -1))
  candidates.length = Math.min(candidates.length, limit)
  return candidates
}

function runOf(id: string): string | undefined {
  const run = CANDIDATE_ID.exec(id)?.[1]
  return isRunId(run) ? run : undefined
}

/** The candidates of a run in the order of writing. Invalid lines, such as one cut off by a crash, are skipped. */
async function readRun(archives: RunArchives, run: string): Promise<readonly MemoryCandidate[]> {
  const notes = fitting(await archives.read(run, NOTES), noteLine).filter(({ id }) => runOf(id) === run)
  if (notes.length === 0) return []
  const reviews = new Map<string, CandidateReview>()
  for (const review of fitting(await archives.read(run, REVIEWS), reviewLine)) {
    // The first decision counts.
    if (!reviews.has(review.id)) reviews.set(review.id, review)
  }
  return notes.map((note) => withReview({ ...note, run }, reviews.get(note.id)))
}

/** The values that fit a schema; others are skipped. */
function fitting<T>(values: readonly unknown[], schema: z.ZodType<T>): T[] {
  return values.flatMap((value) => {
    const parsed = schema.safeParse(value)
    return parsed.success ? [parsed.data] : []
  })
}

/** A candidate with the decision on it, if there is one. */
export function withReview(note: NewCandidate, review: CandidateReview | undefined): MemoryCandidate {
  if (!review) return { ...note, state: 'waiting' }
  const { decision, by, at, reason, note: became } = review
  const made = { by, at, ...(reason !== undefined && { reason }), ...(became !== undefined && { note: became }) }
  return { ...note, state: decision, review: made }
}

/** The error for an unknown candidate id. */
export function unknownCandidate(id: string): ToolError {
  return new ToolError('NOT_FOUND', `No note waits for review under ${JSON.stringify(id.slice(0, 200))}.`, {
    hint: 'List the candidates with tool-hub memory review --list.',
  })
}

/** The error for a run that has reached its limit of candidates. */
export function tooManyCandidates(run: string, notes: number): ToolError {
  return new ToolError('BUDGET_EXCEEDED', `Run ${run} has ${notes} notes for review, which is the limit.`, {
    fix: {
      key: 'memory.limits.candidates',
      hint: 'Write fewer and longer notes, or ask the owner to raise the limit.',
    },
  })
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
