import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ApprovalRequest } from '../packages/core/src/events.ts'
import type { HubOptions } from '../packages/core/src/options.ts'
import { defineTool } from '../packages/core/src/tool.ts'
import { fakeClock } from '../packages/testing/src/fake-clock.ts'
import { type TestHub, testHub } from '../packages/testing/src/tool-contract.ts'
import { eventsOf } from './support/events-of.ts'

const wipe = defineTool({
  name: 'disk.wipe',
  description: 'Pretends to wipe a disk, for tests.',
  input: z.strictObject({ disk: z.string(), why: z.unknown().optional() }),
  capabilities: ['remote'],
  targets: ({ disk }) => ({ remote: `wipe ${disk}` }),
  execute: ({ disk }) => `wiped ${disk}`,
})

let hub: TestHub | undefined
function hubWith(options: HubOptions) {
  hub = testHub({ tools: [wipe], policy: [{ ask: 'remote', reason: 'commands are asked' }], ...options }) as TestHub
  return hub
}
afterEach(async () => {
  await hub?.close({ abort: true })
  hub = undefined
})

describe('an ask', () => {
  it('shows tool, input, targets, rule, reason and who asks, and runs after a yes', async () => {
    const asked: ApprovalRequest[] = []
    const hub = hubWith({
      requests: [{ skill: 'cleaner', wants: ['remote'], reason: 'tidies up' }],
      approve: (request) => {
        asked.push(request)
        return { decision: 'allow', by: 'anna' }
      },
    })
    const result = await hub.call(wipe, { disk: 'a' }, { purpose: 'spring clean', caller: 'agent-7' })
    expect(result).toMatchObject({ ok: true, data: 'wiped a', meta: { approvedBy: 'anna' } })
    expect(asked[0]).toMatchObject({
      tool: 'disk.wipe',
      input: { disk: 'a' },
      targets: ['remote wipe a'],
      reason: 'commands are asked',
      caller: 'agent-7',
      purpose: 'spring clean',
    })
    expect(asked[0]!.requests.join()).toContain('cleaner')
    const events = await eventsOf(hub)
    const types = events.map(({ type }) => type)
    expect(types).toEqual([
      ...['run-opened', 'approval-requested', 'approval-answered', 'call-started', 'run-tainted', 'call-ended'],
    ])
    expect(events[1]).toMatchObject({ bound: asked[0]!.hash })
  })

  it('fails immediately when nobody can be asked', async () => {
    const result = await hubWith({ approve: undefined }).call(wipe, { disk: 'a' })
    expect(result).toMatchObject({ status: 'approval_required', error: { code: 'APPROVAL_UNAVAILABLE' } })
  })

  it('carries the reason of a no to the model', async () => {
    const result = await hubWith({ approve: () => ({ decision: 'deny', reason: 'use the bin instead' }) }).call(wipe, {
      disk: 'a',
    })
    expect(result.error).toMatchObject({
      code: 'APPROVAL_DENIED',
      message: expect.stringContaining('use the bin instead'),
    })
    expect(JSON.stringify(result.content)).toContain('use the bin instead')
  })

  it('is a no when the approver throws, answers nonsense or never', async () => {
    const clock = fakeClock()
    const answers: HubOptions['approve'][] = [
      () => Promise.reject(new Error('gone')),
      () => 'yes' as never,
      () => ({ decision: 'sure' }) as never,
    ]
    for (const approve of answers) {
      const result = await hubWith({ approve }).call(wipe, { disk: 'a' })
      expect(result.error?.code).toBe('APPROVAL_UNAVAILABLE')
      await hub!.close()
    }
    const call = hubWith({ clock, approve: () => new Promise(() => {}), approvals: { timeoutMs: 1_000 } }).call(wipe, {
      disk: 'a',
    })
    await clock.advance(1_000)
    expect((await call).error?.code).toBe('APPROVAL_TIMEOUT')
  })

  it('is bound to the input: what changes while it waits is not what runs', async () => {
    const why = { text: 'harmless' }
    const hub = hubWith({
      approve: () => {
        why.text = 'changed behind the back'
        return { decision: 'allow' }
      },
      tools: [defineTool({ ...wipe, execute: (input: { why: unknown }) => input.why } as never)],
    })
    expect((await hub.callDynamic('disk.wipe', { disk: 'a', why })).data).toEqual({ text: 'harmless' })
  })

  it('waits in the queue for anybody who watches; the first answer wins', async () => {
    const hub = hubWith({ approve: undefined })
    const stop = hub.approvals.watch(() => {})
    const call = hub.call(wipe, { disk: 'a' })
    while (hub.approvals.list().length === 0) await new Promise((resolve) => setImmediate(resolve))
    const [request] = hub.approvals.list()
    expect(hub.approvals.reply(request!.id, { decision: 'allow', by: 'first' })).toBe(true)
    expect(hub.approvals.reply(request!.id, { decision: 'deny', by: 'second' })).toBe(false)
    expect((await call).meta.approvedBy).toBe('first')
    stop()
  })

  it('can be stopped by the caller', async () => {
    const controller = new AbortController()
    const hub = hubWith({
      approve: () => {
        controller.abort()
        return new Promise(() => {})
      },
    })
    expect((await hub.call(wipe, { disk: 'a' }, { signal: controller.signal })).status).toBe('aborted')
  })
})

describe('a remembered answer', () => {
  function counting(reply: () => ReturnType<NonNullable<HubOptions['approve']>>) {
    let asked = 0
    const hub = hubWith({
      approve: () => {
        asked++
        return reply()
      },
    })
    return { hub, asked: () => asked }
  }

  it('covers the very same call for the session, and no other', async () => {
    const { hub, asked } = counting(() => ({ decision: 'allow', remember: 'session' }))
    for (let i = 0; i < 3; i++) expect((await hub.call(wipe, { disk: 'a' }, { session: 's' })).ok).toBe(true)
    expect(asked()).toBe(1)
    await hub.call(wipe, { disk: 'b' }, { session: 's' })
    await hub.call(wipe, { disk: 'a' }, { session: 'other' })
    expect(asked()).toBe(3)
  })

  it('covers the same targets when the approver says so; an exact no beats it', async () => {
    let reply: { decision: 'allow' | 'deny'; remember: 'always'; covers: 'exact' | 'targets' } = {
      decision: 'allow',
      remember: 'always',
      covers: 'targets',
    }
    const { hub, asked } = counting(() => reply)
    await hub.call(wipe, { disk: 'a', why: 1 })
    expect((await hub.call(wipe, { disk: 'a', why: 2 })).ok).toBe(true)
    expect(asked()).toBe(1)
    const grants = await hub.grants.list()
    expect(grants).toHaveLength(1)
    expect(await hub.grants.revoke(grants[0]!.id)).toBe(true)
    reply = { decision: 'deny', remember: 'always', covers: 'exact' }
    expect((await hub.call(wipe, { disk: 'a', why: 3 })).status).toBe('denied')
    reply = { decision: 'allow', remember: 'always', covers: 'targets' }
    await hub.call(wipe, { disk: 'a', why: 4 })
    expect((await hub.call(wipe, { disk: 'a', why: 3 })).error?.code).toBe('APPROVAL_DENIED')
    expect(asked()).toBe(3)
  })

  it('never lifts a deny', async () => {
    const folder = counting(() => ({ decision: 'allow', remember: 'always', covers: 'targets' }))
    await folder.hub.call(wipe, { disk: 'a' })
    const denying = testHub({ tools: [wipe], policy: [{ deny: 'remote' }], data: `${folder.hub.folder}/data` })
    expect((await denying.call(wipe, { disk: 'a' })).error?.code).toBe('POLICY_DENIED')
    await denying.close()
  })
})
