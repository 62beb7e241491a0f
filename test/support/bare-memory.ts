import { createMemory } from '../../src/abilities/memory/create-memory.ts'
import type { AbilityCall, AbilityHost } from '../../src/contracts/ability.ts'
import type { MemoryCandidate, MemoryOptions } from '../../src/contracts/memory.ts'
import type { CandidateArchive } from '../../src/contracts/memory-archive.ts'
import { createMemoryStore } from '../../src/store/memory/create-memory-store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'

/** An archive of candidates in a list. */
function listArchive() {
  const all: MemoryCandidate[] = []
  const limits: unknown[] = []
  const asked: unknown[] = []
  const archive: CandidateArchive = {
    async add(candidate, { mostInRun }) {
      limits.push(mostInRun)
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
export function bareMemory(options: MemoryOptions = {}, more: Partial<AbilityHost> = {}) {
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
    ...{ store, clock, candidates: candidates.archive, warn() {} },
    redact: (text: string) => text.replaceAll('hunter2', '[redacted]'),
    tellChange: (...change: unknown[]) => void told.push(change),
    recordChange: async (change: unknown) => void recorded.push(change),
    ...more,
  } as unknown as AbilityHost
  const { handle, desk, endRun } = createMemory({ writeMode: 'external', ...options }, host)
  const as = (call: Partial<AbilityCall> = {}) =>
    handle({
      ...{ run: 'r1', session: 's1', callId: 'c1', caller: 'me', principal: undefined, isTainted: false },
      permits: (_: string, value: string) => void permitted.push(value),
      beforeEffect: async () => {},
      signal: () => new AbortController().signal,
      notice: (text: string) => void notices.push(text),
      markUntrusted: () => void marks.push(true),
      ...call,
    } as unknown as AbilityCall)
  return { as, desk, endRun: endRun!, store, clock, candidates, told, recorded, permitted, notices, marks }
}
