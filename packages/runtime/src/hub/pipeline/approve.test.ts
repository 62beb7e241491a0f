import { createMemoryStore } from '@tool-hub/library/stores'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { eventsOf } from '../../../../../test/support/events-of.ts'
import type { ApprovalReply, ApprovalRequest, CallEvent } from '../../../../core/src/events.ts'
import { hashJson } from '../../../../core/src/lib/hash.ts'
import type { HubOptions } from '../../../../core/src/options.ts'
import type { Store, StoredApproval } from '../../../../core/src/store.ts'
import { defineTool } from '../../../../core/src/tool.ts'
import { currentProcess } from '../../../../sandbox/src/system/processes.ts'
import { type TestHub, testHub } from '../../../../testing/src/tool-contract.ts'

const wipe = defineTool({
  name: 'disk.wipe',
  description: 'Pretends to wipe a disk, for tests.',
  input: z.strictObject({ disk: z.string(), why: z.string().optional() }),
  capabilities: ['memory'],
  targets: ({ disk }) => ({ memory: `wipe ${disk}` }),
  execute: ({ disk }) => `wiped ${disk}`,
})

const hubs: TestHub[] = []
function hubWith(options: HubOptions = {}) {
  const hub = testHub({
    tools: [wipe],
    policy: [{ ask: 'memory' }, { deny: 'memory', on: 'wipe system' }],
    approve: undefined,
    ...options,
  }) as TestHub
  hubs.push(hub)
  return hub
}
afterEach(async () => {
  await Promise.all(hubs.splice(0).map((hub) => hub.close({ abort: true })))
})

/** The next event for somebody who watches from now on. */
function nextRequest(hub: TestHub): Promise<ApprovalRequest> {
  return new Promise((resolve) => hub.approvals.watch(resolve))
}

describe('what the approver sees', () => {
  it('is the deadline, the calls of the run so far, and what a remembered answer would cover', async () => {
    const asked: ApprovalRequest[] = []
    const hub = hubWith({
      approvals: { timeoutMs: 60_000 },
      approve: (request) => {
        asked.push(request)
        return { decision: 'allow' }
      },
    })
    for (const disk of ['a', 'b']) await hub.call(wipe, { disk })
    const [first, second] = asked as [ApprovalRequest, ApprovalRequest]
    expect(Date.parse(first.expiresAt) - Date.parse(first.askedAt)).toBe(60_000)
    expect(first).toMatchObject({ labels: [], history: [] })
    expect(second.history).toEqual([
      { callId: first.callId, tool: 'disk.wipe', status: 'ok', summary: expect.stringContaining('wiped a') },
    ])
    expect(second.coverage).toEqual({
      exact: 'this exact call of disk.wipe, with the same arguments',
      targets: 'every call of disk.wipe on memory wipe b, whatever its other arguments',
    })
  })

  it('offers this exact call or a pattern for commands, and this exact call alone for a tool in doubt', async () => {
    const asked: ApprovalRequest[] = []
    const approve = (request: ApprovalRequest) => {
      asked.push(request)
      return { decision: 'deny' } as const
    }
    const doubted = defineTool({ ...wipe, name: 'disk.doubted', doubt: 'its description changed.' })
    const hub = hubWith({ tools: [doubted], approve, policy: [{ ask: 'exec' }] })
    await hub.callDynamic('disk.doubted', { disk: 'a' })
    await hub.callDynamic('core/exec.run', { command: 'echo hi' })
    await hub.callDynamic('core/exec.run', { command: 'rm -rf hi' })
    expect(asked.map(({ tool, coverage }) => [tool, Object.keys(coverage)])).toEqual([
      ['disk.doubted', ['exact']],
      ['core/exec.run', ['exact', 'pattern']],
      ['core/exec.run', ['exact']],
    ])
  })

  it.each(['allow', 'deny'] as const)(
    'says in the result when the answer %s could not be remembered',
    async (decision) => {
      const store = createMemoryStore()
      // As slow as a disk: without waiting for it, nobody is notified.
      const put = () => new Promise<void>((_, reject) => setTimeout(() => reject(new Error('the disk is full')), 20))
      const hub = hubWith({
        store: { ...store, grants: { put, list: () => [], remove: () => false } },
        approve: () => ({ decision, remember: 'always' }),
      })
      const { ok, meta } = await hub.callDynamic('disk.wipe', { disk: 'a' })
      expect([ok, meta.notices]).toEqual([decision === 'allow', ['The answer was not remembered: the disk is full']])
    },
  )

  it('names who calls for certain, whose own yes does not count and whose grants are no one else’s', async () => {
    const hub = hubWith()
    const watching = nextRequest(hub)
    const [ci, other] = [hub.as({ name: 'token:ci' }), hub.as({ name: 'token:other' })]
    const call = ci.callDynamic('disk.wipe', { disk: 'a' }, { caller: 'agent-7' })
    const request = await watching
    expect(request).toMatchObject({ caller: 'agent-7', principal: 'token:ci' })
    expect(() => hub.approvals.reply(request.id, { decision: 'allow', by: 'token:ci' })).toThrow(
      expect.objectContaining({ code: 'POLICY_DENIED' }),
    )
    hub.approvals.reply(request.id, { decision: 'allow', by: 'owner', remember: 'always' })
    expect((await call).meta.approvedBy).toBe('owner')
    expect((await ci.callDynamic('disk.wipe', { disk: 'a' })).meta.approvedBy).toMatch(/^owner \(grant /)
    const asked = nextRequest(hub)
    const others = other.callDynamic('disk.wipe', { disk: 'a' })
    hub.approvals.reply((await asked).id, { decision: 'deny' })
    expect((await others).error?.code).toBe('APPROVAL_DENIED')
  })
})

describe('an answer', () => {
  it('is emitted to every listener, with whose it was and how it came', async () => {
    const hub = hubWith()
    const heard: CallEvent[] = []
    hub.onEvent((event) => heard.push(event))
    const watching = nextRequest(hub)
    const call = hub.call(wipe, { disk: 'a' }, { approve: () => new Promise(() => {}) })
    const { id, callId } = await watching
    hub.approvals.reply(id, { decision: 'allow', by: 'ada', via: 'console' })
    await call
    expect(heard.map(({ type }) => type)).toEqual([
      'approval-requested',
      'approval-answered',
      'call-started',
      'call-ended',
    ])
    expect(heard[1]).toEqual({
      type: 'approval-answered',
      callId,
      approval: id,
      decision: 'allow',
      by: 'ada',
      via: 'console',
    })
  })
})

describe('arguments that the approver changed', () => {
  const changing = (input: unknown, options: HubOptions = {}) =>
    hubWith({ approve: () => ({ decision: 'allow', by: 'ada', input, remember: 'always' }), ...options })

  it('are what runs, and the record, the result and what is remembered say so', async () => {
    const hub = changing({ disk: 'b' })
    const result = await hub.call(wipe, { disk: 'a' })
    expect(result).toMatchObject({
      data: 'wiped b',
      meta: { approvedBy: 'ada', notices: ['ada changed the arguments before the call ran.'] },
    })
    const events = await eventsOf(hub)
    const answered = events.find(({ type }) => type === 'approval-answered')
    expect(answered).toMatchObject({ decision: 'allow', changed: true, argsHash: hashJson({ disk: 'b' }) })
    const started =
      events.find(({ type }) => type === 'call-started') ?? events.find(({ type }) => type === 'call-ended')
    expect(started).toMatchObject({ args: { disk: 'b' }, argsHash: hashJson({ disk: 'b' }) })
    expect(await hub.grants.list()).toMatchObject([{ targets: ['memory wipe b'] }])
    expect((await hub.call(wipe, { disk: 'b' })).meta.approvedBy).toMatch(/grant/)
  })

  it.each<[string, unknown, string]>([
    ['policy denies', { disk: 'system' }, 'POLICY_DENIED'],
    ['the schema refuses', { disk: 1 }, 'INPUT_SCHEMA_INVALID'],
    ['hold a redaction mark', { disk: '[redacted:token]' }, 'INPUT_SCHEMA_INVALID'],
  ])('end the call when they are such that %s', async (_, input, code) => {
    const hub = changing(input)
    expect((await hub.call(wipe, { disk: 'a' })).error?.code).toBe(code)
    const answered = (await eventsOf(hub)).filter(({ type }) => type === 'approval-answered')
    expect(answered).toMatchObject([{ decision: 'allow', by: 'ada', changed: true }])
    expect(await hub.grants.list()).toEqual([])
  })

  it('are judged by what they touch, though it takes time to find that out', async () => {
    const slow = defineTool({
      name: 'shell.pretend',
      description: 'Pretends to run a command, for tests.',
      input: z.strictObject({ line: z.string().refine(async (line) => line !== 'broken') }),
      capabilities: ['exec'],
      targets: ({ line }) => ({ exec: line }),
      execute: ({ line }) => `ran ${line}`,
    })
    const policy = [{ ask: 'exec' }, { deny: 'exec', on: 'rm *' }]
    const runInstead = async (line: string) => {
      const result = await changing({ line }, { tools: [slow], policy }).call(slow, { line: 'ls a' })
      return result.error?.code ?? result.data
    }
    expect(await runInstead('ls b')).toBe('ran ls b')
    expect(await runInstead('rm b')).toBe('POLICY_DENIED')
    expect(await runInstead('broken')).toBe('INPUT_SCHEMA_INVALID')
  })

  it('pass the hooks of the owner like any', async () => {
    const seen: unknown[] = []
    const hub = changing({ disk: 'b' }, { hooks: [{ before: ({ input }) => void seen.push(input) }] })
    await hub.call(wipe, { disk: 'a' })
    expect(seen).toEqual([{ disk: 'a' }, { disk: 'b' }])
  })

  it('can be corrected by the approver, while the call continues to wait', async () => {
    const hub = hubWith()
    const watching = nextRequest(hub)
    const call = hub.call(wipe, { disk: 'a' })
    const { id } = await watching
    const answer = (input: unknown) => hub.approvals.answer(id, { decision: 'allow', input })
    await expect(answer({ disk: 1 })).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
    expect(hub.approvals.list()).toHaveLength(1)
    expect(await answer({ disk: 'c' })).toBe(true)
    expect((await call).data).toBe('wiped c')
  })

  it('are for a yes only', async () => {
    const hub = hubWith({ approve: () => ({ decision: 'deny', input: { disk: 'b' } }) })
    expect((await hub.call(wipe, { disk: 'a' })).error?.code).toBe('APPROVAL_UNAVAILABLE')
  })
})

describe('a call that does not wait', () => {
  it('leaves its ask, and made again after the answer uses it once', async () => {
    const hub = hubWith()
    const call = () => hub.call(wipe, { disk: 'a' }, { onAsk: 'return' })
    const first = await call()
    const [request] = hub.approvals.list()
    expect(first).toMatchObject({
      status: 'approval_required',
      error: { code: 'APPROVAL_UNAVAILABLE', fix: { hint: expect.stringContaining(request!.id) } },
    })
    expect((await call()).status).toBe('approval_required')
    expect(hub.approvals.list()).toHaveLength(1)
    expect(await hub.approvals.answer(request!.id, { decision: 'allow', by: 'ada' })).toBe(true)
    const made = await Promise.all([call(), call(), call()])
    expect(made.filter(({ ok }) => ok)).toHaveLength(1)
    expect(made.find(({ ok }) => ok)).toMatchObject({ data: 'wiped a', meta: { approvedBy: 'ada' } })
    expect((await call()).status).toBe('approval_required')
  })

  it('is notified of a denial, too', async () => {
    const hub = hubWith()
    await hub.call(wipe, { disk: 'a' }, { onAsk: 'return' })
    hub.approvals.reply(hub.approvals.list()[0]!.id, { decision: 'deny', by: 'ada', reason: 'not this one' })
    const again = await hub.call(wipe, { disk: 'a' }, { onAsk: 'return' })
    expect(again.error).toMatchObject({ code: 'APPROVAL_DENIED', message: expect.stringContaining('not this one') })
  })
})

describe('an ask whose process is gone', () => {
  const GONE = JSON.stringify({ ...currentProcess(), pid: 2 ** 31 - 1 })

  /** A store as a hub leaves it that was killed while it asked. */
  async function leftBehind(reply?: ApprovalReply): Promise<Store> {
    const before = createMemoryStore()
    const hub = hubWith({ store: before, approvals: { inbox: true } })
    const call = hub.call(wipe, { disk: 'a' })
    while ((await before.approvals.list()).length === 0) await new Promise(setImmediate)
    const [{ state: _, used: __, ...ask }] = (await before.approvals.list()) as [StoredApproval]
    const store = createMemoryStore()
    await store.approvals.file({ ...ask, owner: GONE })
    if (reply)
      await store.approvals.answer(ask.id, { reply: JSON.stringify(reply), by: 'ada', via: 'console', at: Date.now() })
    await hub.close()
    expect(await call).toMatchObject({
      status: 'approval_required',
      error: { code: 'APPROVAL_UNAVAILABLE', fix: { hint: expect.stringContaining('Repeat the same call') } },
    })
    expect((await before.approvals.find(ask.id))?.state).toBe('waiting')
    return store
  }

  it('has its answer used immediately when the same call is made again, and only then', async () => {
    const hub = hubWith({ store: await leftBehind({ decision: 'allow' }) })
    const made = await hub.call(wipe, { disk: 'a' })
    expect(made).toMatchObject({ ok: true, meta: { approvedBy: 'ada' } })
    const [requested, answered] = (await eventsOf(hub)).filter(({ type }) => type.startsWith('approval-'))
    expect(answered).toMatchObject({ approval: (requested as { approval: string }).approval, via: 'console' })
    expect((await hub.call(wipe, { disk: 'a' })).error?.code).toBe('APPROVAL_UNAVAILABLE')
    const other = hubWith({ store: await leftBehind({ decision: 'allow' }) })
    for (const [input, caller] of [
      [{ disk: 'b' }, undefined],
      [{ disk: 'a' }, 'somebody else'],
    ] as const)
      expect((await other.call(wipe, input, { caller })).error?.code).toBe('APPROVAL_UNAVAILABLE')
  })

  it('is asked on under its old id', async () => {
    const store = await leftBehind()
    const hub = hubWith({ store })
    const watching = nextRequest(hub)
    const call = hub.call(wipe, { disk: 'a' })
    const { id } = await watching
    expect((await store.approvals.list()).map((ask) => ask.id)).toEqual([id])
    hub.approvals.reply(id, { decision: 'allow', by: 'bob' })
    expect((await call).meta.approvedBy).toBe('bob')
  })

  it('stays when the hub is closed in a hurry', async () => {
    const store = createMemoryStore()
    const hub = hubWith({ store, approvals: { inbox: true } })
    const call = hub.call(wipe, { disk: 'a' })
    while ((await store.approvals.list()).length === 0) await new Promise(setImmediate)
    await hub.close({ abort: true })
    expect((await call).ok).toBe(false)
    expect((await store.approvals.list()).map(({ state }) => state)).toEqual(['waiting'])
  })
})
