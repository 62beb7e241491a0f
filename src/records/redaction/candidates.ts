import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import {
  type CandidateArchive,
  type CandidateReview,
  isRunId,
  MEMORY_SCOPES,
  type MemoryCandidate,
  type NewCandidate,
  ToolError,
} from '../../core/index.ts'
import { errnoOf } from '../../lib/index.ts'
import { type Lock, takeLock } from '../../system/index.ts'
import { appendValue, readValues } from '../log/archive-file.ts'
import { diskError } from '../log/disk-error.ts'

/** Notes that wait, as their run wrote them; and what was decided on them, by whichever process. Both only grow. */
const NOTES = 'memory.jsonl'
const REVIEWS = 'memory-reviews.jsonl'
const LOCK = 'memory-reviews.lock'
/** A provider far away may take its time over what somebody has decided. */
const LOCK_WAIT_MS = 15_000
const LOCK_STEP_MS = 20
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

/** The notes that wait for review in the archives of the runs below a folder. */
export function openCandidates(root: string): CandidateArchive {
  const archiveOf = (run: string) => join(root, run, 'archive')
  const read = (run: string) => readArchive(archiveOf(run), run)
  const find = async (id: string) => {
    const run = runOf(id)
    return run === undefined ? undefined : (await read(run)).find((candidate) => candidate.id === id)
  }
  return {
    find,
    async add(candidate, { maxInRun }) {
      const folder = archiveOf(candidate.run)
      assertReadable(candidate)
      const waiting = (await read(candidate.run)).length
      if (waiting >= maxInRun) throw tooMany(candidate.run, waiting)
      await appendValue(join(folder, NOTES), candidate)
    },
    async list({ run, state, limit }) {
      const runs = run === undefined ? await runsIn(root) : [run].filter(isRunId)
      const found: MemoryCandidate[] = []
      for (const id of runs) {
        found.push(...(await read(id)).filter((candidate) => state === 'all' || candidate.state === state))
        // Only the newest are wanted, and a machine may have many runs.
        if (found.length > 2 * limit) keepNewest(found, limit)
      }
      return keepNewest(found, limit)
    },
    async decide(id, work) {
      const run = runOf(id)
      const known = run === undefined ? undefined : await find(id)
      if (run === undefined || !known) throw unknown(id)
      const lock = await lockReviews(join(archiveOf(run), LOCK), run)
      try {
        const candidate = (await find(id))!
        if (candidate.state !== 'waiting') return { won: false, candidate }
        const review = await work(candidate)
        await appendValue(join(archiveOf(run), REVIEWS), review)
        return { won: true, review }
      } finally {
        lock.release()
      }
    },
  }
}

/** What would be passed over when the archive is read must not be said to be kept. */
function assertReadable(candidate: NewCandidate): void {
  const [issue] = noteLine.safeParse(candidate).error?.issues ?? []
  if (!issue) return
  throw new ToolError('INPUT_SCHEMA_INVALID', `The note cannot be kept: ${issue.path.join('.')}: ${issue.message}.`, {
    hint: 'Use shorter names for the caller and the session.',
  })
}

/** One decides at a time, of this process and of others. Waits without holding anybody up. */
async function lockReviews(path: string, run: string): Promise<Lock> {
  const what = `The review of run ${run}`
  const fix = { hint: 'Try again in a moment: somebody else decides on a note of this run.' }
  for (let waitedMs = 0; ; waitedMs += LOCK_STEP_MS) {
    try {
      return takeLock(path, { what, fix })
    } catch (error) {
      const isHeld = ToolError.is(error) && error.code === 'CONFLICT'
      if (!isHeld || waitedMs >= LOCK_WAIT_MS) throw diskError('A review cannot be kept', path, error)
      await sleep(LOCK_STEP_MS)
    }
  }
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

async function runsIn(root: string): Promise<string[]> {
  try {
    const entries = await readdir(root, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory() && isRunId(entry.name)).map(({ name }) => name)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw diskError('The run records cannot be listed', root, error)
  }
}

/** In the order they were written. A line that is none of ours, such as one that a crash has torn, is passed over. */
async function readArchive(folder: string, run: string): Promise<readonly MemoryCandidate[]> {
  const notes = (await readValues(join(folder, NOTES), noteLine)).filter(({ id }) => runOf(id) === run)
  if (notes.length === 0) return []
  const reviews = new Map<string, CandidateReview>()
  for (const review of await readValues(join(folder, REVIEWS), reviewLine)) {
    // The first one counts, as it did when it was made.
    if (!reviews.has(review.id)) reviews.set(review.id, review)
  }
  return notes.map((note) => withReview({ ...note, run }, reviews.get(note.id)))
}

function withReview(note: NewCandidate, review: CandidateReview | undefined): MemoryCandidate {
  if (!review) return { ...note, state: 'waiting' }
  const { decision, by, at, reason, note: became } = review
  const told = { by, at, ...(reason !== undefined && { reason }), ...(became !== undefined && { note: became }) }
  return { ...note, state: decision, review: told }
}

function unknown(id: string): ToolError {
  return new ToolError('NOT_FOUND', `No note waits for review under ${JSON.stringify(id.slice(0, 200))}.`, {
    hint: 'List those that wait: tool-hub memory review --list.',
  })
}

function tooMany(run: string, notes: number): ToolError {
  return new ToolError('BUDGET_EXCEEDED', `Run ${run} has ${notes} notes for review, which is the most.`, {
    fix: {
      key: 'memory.limits.candidates',
      hint: 'Write fewer and longer notes, or have the owner raise the limit.',
    },
  })
}
