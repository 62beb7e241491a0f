import type { NewSchedule, SchedulesOptions } from '@tool-hub/features/schedules/types'
import { createMemoryStore } from '@tool-hub/library/stores'
import { expect } from 'vitest'
import { z } from 'zod'
import type { HubOptions } from '../../packages/core/src/options.ts'
import { defineTool } from '../../packages/core/src/tool.ts'
import { fakeClock } from '../../packages/testing/src/fake-clock.ts'
import { testHub } from '../../packages/testing/src/tool-contract.ts'
import { eventually } from './eventually.ts'

/** 2026-01-01, a Thursday, at midnight. */
export const START = Date.UTC(2026, 0, 1)
export const MINUTE = 60_000

interface WorldOptions extends Partial<HubOptions> {
  readonly clock?: ReturnType<typeof fakeClock>
}

/** A hub with a tool that notes when it was called, and that can be kept waiting. */
export function scheduleWorld(options: WorldOptions = {}, schedules: SchedulesOptions = {}) {
  const { clock = fakeClock(START), tools = [], runs, ...others } = options
  const notes: { readonly text: string; readonly at: number; readonly run: string }[] = []
  const held: (() => void)[] = []
  let isHolding = false
  const note = defineTool({
    name: 'note',
    description: 'Notes a text, for tests.',
    input: z.strictObject({ text: z.string() }),
    async execute({ text }, { run, signal }) {
      notes.push({ text, at: clock.now() - START, run })
      if (text === 'fail') throw new Error('no')
      if (isHolding) await heldUntilReleased(signal, held)
      return { text }
    },
  })
  const store = options.store ?? createMemoryStore({ now: () => clock.now() })
  const hub = testHub({
    limits: { timeoutMs: 864_000_000 },
    // Records take their time, and most tests are not about them.
    ...(!('runs' in options) && { runs: false }),
    ...(runs !== undefined && { runs }),
    ...others,
    ...{ clock, store, tools: [note, ...tools], schedules: { timeZone: 'UTC', ...schedules } },
  })
  const service = hub.schedules
  const counts = async () => {
    const { running, waiting } = await service.status()
    return { running, waiting }
  }
  return {
    ...{ hub, service, notes, store, clock },
    /** What became of a schedule, oldest first. */
    async statuses(name: string) {
      const { runs } = await service.runs(name, { limit: 500 })
      return runs.map(({ status }) => status).reverse()
    },
    idle: () => eventually(async () => expect(await counts()).toEqual({ running: 0, waiting: 0 }), { interval: 5 }),
    busy: (running: number, waiting = 0) =>
      eventually(async () => expect(await counts()).toEqual({ running, waiting }), { interval: 5 }),
    hold() {
      isHolding = true
    },
    release() {
      isHolding = false
      for (const go of held.splice(0)) go()
    },
  }
}

/** A schedule that notes something every so many minutes. */
export function everyMinutes(minutes: number, more: Partial<NewSchedule> = {}): NewSchedule {
  const calls = [{ tool: 'note', input: { text: 'hi' } }]
  return { name: 'job', when: { everyMs: minutes * MINUTE }, calls, ...more }
}

function heldUntilReleased(signal: AbortSignal, held: (() => void)[]): Promise<void> {
  return new Promise((resolve, reject) => {
    held.push(resolve)
    signal.addEventListener('abort', () => reject(signal.reason))
  })
}
