import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { eventsOf } from '../../../../../test/support/events-of.ts'
import type { ApprovalReply, ApprovalRequest, CallEvent } from '../../../../core/src/events.ts'
import { hashJson } from '../../../../core/src/lib/hash.ts'
import type { HubOptions } from '../../../../core/src/options.ts'
import { defineTool } from '../../../../core/src/tool.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { type TestHub, testHub } from '../../../../testing/src/tool-contract.ts'
import { approvalHash } from './approval-request.ts'

const SECRET = 'the-owners-own-secret'

const wipe = defineTool({
  name: 'disk.wipe',
  description: 'Pretends to wipe a disk, for tests.',
  input: z.strictObject({ disk: z.string() }),
  capabilities: ['memory'],
  targets: ({ disk }) => ({ memory: disk === 'none' ? undefined : disk }),
  execute: ({ disk }) => `wiped ${disk}`,
})

const hubs: TestHub[] = []
afterEach(async () => {
  await Promise.all(hubs.splice(0).map((hub) => hub.close({ abort: true })))
})

/** A hub that asks before each call; `asked` is what it asked so far. */
function asking(answer: (request: ApprovalRequest) => ApprovalReply, options: HubOptions = {}) {
  const asked: ApprovalRequest[] = []
  const hub = testHub({
    tools: [wipe],
    policy: [{ ask: 'memory', reason: 'Disks are dear.' }],
    redact: { values: [SECRET] },
    approve: (request) => {
      asked.push(request)
      return answer(request)
    },
    ...options,
  }) as TestHub
  hubs.push(hub)
  const answered = async () => {
    await hub.endRun(hub.run)
    return (await eventsOf(hub)).filter(({ type }) => type.startsWith('approval-'))
  }
  return { hub, asked, answered, call: (disk = 'a', more = {}) => hub.callDynamic('disk.wipe', { disk }, more) }
}

const yes = () => ({ decision: 'allow', by: 'ada' }) as const

describe('what is asked', () => {
  it('says who calls what, why, and by which rule', async () => {
    const clock = fakeClock()
    const { hub, asked, call } = asking(yes, { clock, approvals: { timeoutMs: 5_000 } })
    const ids = { requestId: 'q', taskId: 't', goalId: 'g' }
    const { callId } = await call('a', { ...ids, session: 's', purpose: `for ${SECRET}`, caller: 'agent-7' })
    expect(asked).toEqual([
      {
        id: `approval-${callId}`,
        callId,
        run: hub.run,
        session: 's',
        tool: 'disk.wipe',
        input: { disk: 'a' },
        targets: ['memory a'],
        rule: expect.stringMatching(/^ask memory/),
        reason: 'Disks are dear.',
        caller: 'agent-7',
        purpose: expect.stringMatching(/^for \[redacted:[a-z-]+\]$/),
        ...ids,
        requests: [],
        labels: [],
        views: [],
        history: [],
        coverage: {
          exact: 'this exact call of disk.wipe, with the same arguments',
          targets: 'every call of disk.wipe on memory a, whatever its other arguments',
        },
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        askedAt: new Date(clock.now()).toISOString(),
        expiresAt: new Date(clock.now() + 5_000).toISOString(),
      },
    ])
    expect(Object.isFrozen(asked[0]!.targets)).toBe(true)
  })

  it('says nothing of what the caller did not say, and names no targets where there are none', async () => {
    const { asked, call } = asking(yes)
    await call('none', { untrusted: true })
    const [request] = asked as [ApprovalRequest]
    for (const key of ['session', 'purpose', 'requestId', 'taskId', 'goalId', 'principal'])
      expect(request).not.toHaveProperty(key)
    expect(request.coverage).toEqual({ exact: 'this exact call of disk.wipe, with the same arguments' })
    expect(request.labels).toEqual(['untrusted'])
  })

  it('holds no secret, and names the principal in what an answer would cover', async () => {
    const { hub, asked } = asking(yes)
    await hub.as({ name: 'token:ci' }).callDynamic('disk.wipe', { disk: `x ${SECRET}` })
    expect(asked[0]!.input).toEqual({ disk: expect.stringMatching(/^x \[redacted:[a-z-]+\]$/) })
    expect(asked[0]!.coverage.exact).toBe('this exact call of disk.wipe by token:ci, with the same arguments')
    expect(asked[0]!.coverage.targets).toMatch(/^every call of disk\.wipe by token:ci on memory x \[redacted/)
  })
})

describe('the answer', () => {
  it.each<[string, ApprovalReply, Record<string, unknown>]>([
    [
      'yes',
      { decision: 'allow', by: 'ada', via: 'cli', reason: 'fine' },
      { decision: 'allow', by: 'ada', via: 'cli', reason: 'fine' },
    ],
    ['yes of nobody in particular', { decision: 'allow' }, { decision: 'allow', by: 'approver' }],
    ['no', { decision: 'deny', by: 'ada', reason: 'not now' }, { decision: 'deny', by: 'ada' }],
    [
      'yes for a while',
      { decision: 'allow', by: 'ada', remember: { until: '2999-01-01T00:00:00.000Z' }, covers: 'targets' },
      { decision: 'allow', remember: 'until 2999-01-01T00:00:00.000Z', covers: 'targets' },
    ],
  ])('%s is on record and told', async (_, reply, line) => {
    const { hub, asked, answered, call } = asking(() => reply)
    const told: CallEvent[] = []
    hub.onEvent((event) => told.push(event))
    const { ok, callId, meta } = await call()
    expect(ok).toBe(reply.decision === 'allow')
    if (ok) expect(meta.approvedBy).toBe(reply.by ?? 'approver')
    const of = { callId, tool: 'disk.wipe', approval: asked[0]!.id }
    expect(await answered()).toMatchObject([
      { type: 'approval-requested', ...of, bound: asked[0]!.hash, rule: asked[0]!.rule, reason: 'Disks are dear.' },
      { type: 'approval-answered', ...of, ...line },
    ])
    const { decision, by = 'approver', via } = reply
    expect(told.find(({ type }) => type === 'approval-answered')).toEqual({
      type: 'approval-answered',
      callId,
      approval: asked[0]!.id,
      decision,
      by,
      ...(via && { via }),
    })
  })

  it('that does not come is on record as what it is', async () => {
    const clock = fakeClock()
    const never = () => new Promise<never>(() => {}) as never
    const late = asking(never, { clock, approvals: { timeoutMs: 1_000 } })
    const waiting = late.call()
    while (late.asked.length === 0) await new Promise(setImmediate)
    await clock.advance(1_000)
    expect((await waiting).error?.code).toBe('APPROVAL_TIMEOUT')
    const stopper = new AbortController()
    const stopped = asking(() => {
      stopper.abort()
      return never()
    })
    expect((await stopped.call('a', { signal: stopper.signal })).status).toBe('aborted')
    const alone = asking(yes, { approve: undefined })
    expect((await alone.call()).error?.code).toBe('APPROVAL_UNAVAILABLE')
    const decisions = []
    for (const { answered } of [late, stopped, alone]) decisions.push((await answered())[1])
    expect(decisions).toMatchObject([{ decision: 'timeout' }, { decision: 'aborted' }, { decision: 'unavailable' }])
  })

  it.each([
    ['mcp:claude', /^Use a client that supports forms, or set approvals: \{ inbox: true \}/],
    ['cli:ada', /^Use --yes, or --wait 5m and tool-hub approvals in another terminal\. For/],
    ['agent-7', /^Set an approver: the approve option or hub\.approvals\.watch\(\)\. For/],
  ])('that nobody can give to %s: what helps is named, and the rule to add', async (caller, hint) => {
    const { call } = asking(yes, { approve: undefined })
    const { error } = await call('a', { caller })
    expect(error?.fix.hint).toMatch(hint)
    expect(error?.fix.hint).toContain(' For all such calls: ')
    expect(error?.fix.key).toBe('policy')
  })

  it('no, remembered, is the answer to the same call from then on', async () => {
    const { asked, call } = asking(() => ({ decision: 'deny', by: 'ada', reason: 'never', remember: 'session' }))
    await call()
    expect((await call()).error).toMatchObject({
      code: 'APPROVAL_DENIED',
      message: 'disk.wipe was already refused by ada: never.',
    })
    expect(asked).toHaveLength(1)
    const silent = asking(() => ({ decision: 'deny', by: 'ada', remember: 'session' }))
    await silent.call()
    expect((await silent.call()).error?.message).toBe('disk.wipe was already refused by ada: no reason given.')
  })

  it('yes to targets holds for a tool in doubt for this exact call alone', async () => {
    const doubted = defineTool({ ...wipe, name: 'disk.doubted', doubt: 'It changed.' })
    const { hub, asked } = asking(() => ({ decision: 'allow', by: 'ada', remember: 'session', covers: 'targets' }), {
      tools: [doubted],
    })
    for (const disk of ['a', 'a', 'b']) expect((await hub.callDynamic('disk.doubted', { disk })).ok).toBe(true)
    expect(asked.map(({ input }) => input)).toEqual([{ disk: 'a' }, { disk: 'b' }])
    expect((await hub.grants.list()).map(({ covers }) => covers)).toEqual(['exact', 'exact'])
  })
})

describe('the hash of a request', () => {
  const hashed = { tool: 'notes.save', input: { path: 'a', text: 'b' }, targets: ['write:fs /a'], sandbox: 'full' }

  it('is the same for the same call, however its input is ordered', () => {
    expect(approvalHash({ ...hashed, input: { text: 'b', path: 'a' } })).toBe(approvalHash(hashed))
  })

  it('changes with the tool, the input, the targets, the sandbox and the doubt', () => {
    const changes = [
      { tool: 'notes.drop' },
      { input: { path: 'a', text: 'c' } },
      { targets: [] },
      { sandbox: 'none' },
      { doubt: 'it is new' },
    ]
    const hashes = changes.map((change) => approvalHash({ ...hashed, ...change }))
    expect(new Set([approvalHash(hashed), ...hashes]).size).toBe(6)
    expect(approvalHash({ ...hashed, doubt: undefined })).toBe(hashJson(hashed))
  })
})
