import type { FeatureCall, FeatureHost } from '@tool-hub/core/feature'
import { createMemoryStore } from '@tool-hub/library/stores'
import { afterEach } from 'vitest'
import type { Principal } from '../../packages/core/src/principal.ts'
import { createSessions } from '../../packages/features/src/sessions/create-sessions.ts'
import type { SessionsOptions, SessionWork } from '../../packages/features/src/sessions/runner.ts'
import { fakeClock } from '../../packages/testing/src/fake-clock.ts'

/** Opens sessions without a hub around them; they are closed after each test of the file. */
export function useBareSessions() {
  const closes: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of closes.splice(0)) await close()
  })
  return (options?: SessionsOptions, more?: Partial<FeatureHost>) => openBare(closes, options, more)
}

/** Their runner does what a test tells it. */
async function openBare(
  closes: (() => Promise<void>)[],
  options: SessionsOptions = {},
  more: Partial<FeatureHost> = {},
) {
  const clock = fakeClock(1_000)
  const store = createMemoryStore({ now: () => clock.now() })
  const works = new Map<string, SessionWork>()
  const ends = new Map<string, { resolve: (text: string) => void; reject: (error: Error) => void }>()
  const [recorded, called, ended, warned, marks]: [unknown[], unknown[], string[], string[], true[]] = [
    [],
    [],
    [],
    [],
    [],
  ]
  const run = (work: SessionWork) => {
    works.set(work.task, work)
    return new Promise<string>((resolve, reject) => ends.set(work.task, { resolve, reject }))
  }
  const host = {
    ...{ store, clock, redact: (text: string) => text.replaceAll('hunter2', '[redacted]') },
    ...{ isTainted: () => false, principalNow: (known: Principal) => known, pastCalls: async () => [] },
    warn: (text: string) => void warned.push(text),
    recordChange: async (change: unknown) => void recorded.push(change),
    emitChange: (feature: string, subject: string) =>
      void store.events.append({ topic: 'feature', body: JSON.stringify({ feature, subject }), at: 0 }),
    as: (rights: unknown) => ({
      listForLLM: () => [{ name: 't' }],
      call: async (tool: string, input: unknown, { signal: _, ...how }: { signal?: unknown }) => {
        called.push({ tool, input, how, rights })
        return { ok: true }
      },
      endRun: async (id: string) => void ended.push(id),
    }),
    ...more,
  } as unknown as FeatureHost
  const feature = await createSessions({ runners: { default: { run } }, ...options }, host)
  closes.push(() => feature.close())
  const as = (call: Partial<FeatureCall> = {}) =>
    feature.handle({
      ...{ run: 'root', session: 'chat', principal: undefined, rights: { caller: 'me' }, isTainted: false },
      ...{ permits() {}, allows: () => ({ ok: true }), beforeEffect: async () => {} },
      signal: () => new AbortController().signal,
      markUntrusted: () => void marks.push(true),
      ...call,
    } as unknown as FeatureCall)
  return { feature, as, service: feature.service, store, clock, works, ends, recorded, called, ended, warned, marks }
}
