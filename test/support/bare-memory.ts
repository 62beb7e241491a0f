import type { FeatureCall, FeatureHost } from '@tool-hub/core/feature'
import type { MemoryCandidate, MemoryOptions } from '@tool-hub/features/memory/types'
import { createMemoryStore } from '@tool-hub/library/stores'
import type { CandidateArchive } from '../../packages/features/src/memory/candidates.ts'
import { createMemory } from '../../packages/features/src/memory/create-memory.ts'
import { fakeClock } from '../../packages/testing/src/fake-clock.ts'

/** An archive of candidates in a list. */
function listArchive() {
  const all: MemoryCandidate[] = []
  const limits: unknown[] = []
  const asked: unknown[] = []
  const archive: CandidateArchive = {
    async add(candidate, { maxInRun }) {
      limits.push(maxInRun)
      all.unshift({ ...candidate, state: 'waiting' })
    },
    find: async (id) => all.find((each) => each.id === id),
    async list(filter) {
      asked.push(filter)
      return all.filter(({ state }) => filter.state === 'all' || state === filter.state)
    },
    async decide(id, work) {
      const at = all.findIndex((each) => each.id === id)
      const candidate = all[at]!
      if (candidate.state !== 'waiting') return { won: false, candidate }
      const { decision, id: _, ...review } = await work(candidate)
      all[at] = { ...candidate, state: decision, review }
      return { won: true, review: { id, decision, ...review } }
    },
  }
  return { archive, all, limits, asked }
}

/** Memory without a hub around it. */
export function bareMemory(
  options: MemoryOptions = {},
  { archive, ...more }: Partial<FeatureHost> & { archive?: 'none' } = {},
) {
  const clock = fakeClock(1_000)
  const store = createMemoryStore({ now: () => clock.now() })
  const candidates = listArchive()
  const [told, recorded, permitted, notices, marks]: [unknown[], unknown[], string[], string[], true[]] = [
    [],
    [],
    [],
    [],
    [],
  ]
  const host = {
    ...{ store, clock, warn() {} },
    redact: (text: string) => text.replaceAll('hunter2', '[redacted]'),
    emitChange: (...change: unknown[]) => void told.push(change),
    recordChange: async (change: unknown) => void recorded.push(change),
    ...more,
  } as unknown as FeatureHost
  const { handle, service, endRun } = createMemory(
    { writeMode: 'external', ...options },
    host,
    archive === 'none' ? undefined : candidates.archive,
  )
  const as = (call: Partial<FeatureCall> = {}) =>
    handle({
      ...{ run: 'r1', session: 's1', callId: 'c1', caller: 'me', principal: undefined, isTainted: false },
      permits: (_: string, value: string) => void permitted.push(value),
      beforeEffect: async () => {},
      signal: () => new AbortController().signal,
      notice: (text: string) => void notices.push(text),
      markUntrusted: () => void marks.push(true),
      ...call,
    } as unknown as FeatureCall)
  return { as, service, endRun: endRun!, store, clock, candidates, told, recorded, permitted, notices, marks }
}
