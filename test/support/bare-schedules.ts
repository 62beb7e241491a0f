import type { FeatureCall, FeatureHost } from '@tool-hub/core/feature'
import type { NewSchedule, SchedulesOptions } from '@tool-hub/features/schedules/types'
import { createMemoryStore } from '@tool-hub/library/stores'
import type { Principal } from '../../packages/core/src/principal.ts'
import { createSchedules } from '../../packages/features/src/schedules/create-schedules.ts'
import { fakeClock } from '../../packages/testing/src/fake-clock.ts'

/** 2026-01-01, a Thursday, at midnight. */
export const START = Date.UTC(2026, 0, 1)
export const MINUTE = 60_000

/** Schedules without a hub around them: each call is noted, and answered when it is released. */
export function bareSchedules(
  options: SchedulesOptions = {},
  { clock = fakeClock(START), store = createMemoryStore({ now: () => clock.now() }), ...more }: Partial<BareParts> = {},
) {
  const [warned, recorded, notices, marks]: [string[], unknown[], string[], true[]] = [[], [], [], []]
  const called: { readonly tool: string; readonly run?: string }[] = []
  const held: (() => void)[] = []
  const state = { isHolding: false }
  const result = { ok: true, status: 'ok', summary: '', meta: {} }
  const door = {
    async call(tool: string, _: unknown, { dryRun, run }: { dryRun?: boolean; run?: string } = {}) {
      if (dryRun) return result
      called.push({ tool, run })
      if (state.isHolding) await new Promise<void>((go) => held.push(go))
      return result
    },
    endRun: async () => {},
  }
  const host = {
    ...{ store, clock, as: () => door, warn: (text: string) => void warned.push(text) },
    principalNow: (known: Principal) => known,
    recordChange: async (change: unknown) => void recorded.push(change),
    emitChange: (feature: string, subject: string) =>
      void store.events.append({ topic: 'feature', body: JSON.stringify({ feature, subject }), at: 0 }),
    ...more,
  } as unknown as FeatureHost
  const feature = createSchedules({ timeZone: 'UTC', ...options }, host)
  return {
    ...{ feature, service: feature.service, host, clock, store, warned, recorded, notices, marks, called },
    hold: () => {
      state.isHolding = true
    },
    release: () => {
      state.isHolding = false
      for (const go of held.splice(0)) go()
    },
    handle: (call: Partial<FeatureCall> = {}) =>
      feature.handle({
        ...{ callId: 'c1', run: 'r1', caller: 'me', principal: undefined, rights: { caller: 'me' }, isTainted: false },
        ...{ permits() {}, beforeEffect: async () => {}, onStop: () => () => {} },
        notice: (text: string) => void notices.push(text),
        markUntrusted: () => void marks.push(true),
        ...call,
      } as unknown as FeatureCall),
  }
}

interface BareParts extends Pick<FeatureHost, 'store' | 'principalNow'> {
  readonly clock: ReturnType<typeof fakeClock>
}

/** A schedule that calls the tool `note`. */
export function noting(more: Partial<NewSchedule> = {}): NewSchedule {
  return { name: 'job', when: { every: '10m' }, calls: [{ tool: 'note' }], ...more }
}
