import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type FeatureHost, ToolError } from '@tool-hub/core'
import { assertReadable, type CandidateArchive, tooManyCandidates, unknownCandidate, withReview } from './candidates.ts'

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
