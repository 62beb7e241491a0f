import type { Scope } from '@tool-hub/core/protocol/shapes'
import { createMemoryStore } from '@tool-hub/library/stores'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import type { HubOptions } from '../../packages/core/src/options.ts'
import { defineTool, type Question } from '../../packages/core/src/tool.ts'
import type { Hub } from '../../packages/runtime/src/hub/hub.ts'
import type { Caller } from '../../packages/server/src/auth/caller.ts'
import { type FakeClock, fakeClock } from '../../packages/testing/src/fake-clock.ts'
import { testHub } from '../../packages/testing/src/tool-contract.ts'
import { eventually } from './eventually.ts'

const sent: string[] = []

/** Every call of it needs a person's yes. */
export const sendMail = defineTool({
  name: 'test.sendMail',
  description: 'Send a mail.',
  input: z.strictObject({ to: z.string() }),
  capabilities: [],
  execute: ({ to }) => sent.push(to),
})

const orderLunch = defineTool({
  name: 'test.orderLunch',
  description: 'Ask what to eat.',
  input: z.looseObject({ question: z.string() }),
  capabilities: [],
  execute: async (question, ctx) => {
    const { answer, values } = await ctx.ask(question as Question)
    return values ?? answer
  },
})

/** A hub whose asks wait in a memory store, at a time that stands still. */
export function askingHub(options: HubOptions = {}) {
  const clock: FakeClock = fakeClock()
  const store = createMemoryStore({ now: clock.now })
  const hub = testHub({
    tools: [sendMail, orderLunch],
    policy: [{ ask: 'test.sendMail', reason: 'mail leaves the house' }],
    approve: undefined,
    approvals: { inbox: true, timeoutMs: 60_000 },
    store,
    clock,
    ...options,
  }) as unknown as Hub
  onTestFinished(() => hub.close({ abort: true }))
  return { clock, store, hub }
}

/** Somebody with a token. */
export function visitorOf(hub: Hub, name: string, ...scopes: Scope[]): Caller {
  return { name, scopes: new Set(scopes), hub: hub.as({ name }) }
}

/** Waits until so many asks are in the store, and gives them back, newest first. */
export async function asksIn(store: ReturnType<typeof createMemoryStore>, count = 1) {
  return eventually(async () => {
    const asks = await store.approvals.list()
    if (asks.length < count) throw new Error(`${asks.length} of ${count} asks`)
    return asks
  })
}
