import { describe, expect, it, onTestFinished } from 'vitest'
import { askingHub, asksIn, visitorOf } from '../../../../test/support/asking-hub.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { approval as approvalSchema } from '../../../core/src/protocol/approvals.ts'
import type { ServiceEvent } from '../../../core/src/protocol/service.ts'
import type { NewApproval, Store } from '../../../core/src/store.ts'
import { currentProcess } from '../../../sandbox/src/system/processes.ts'
import type { Caller } from '../auth/caller.ts'
import { createApprovalService } from './approval-service.ts'

function newService() {
  const { hub, store, clock } = askingHub()
  const events: ServiceEvent[] = []
  const service = createApprovalService({ hub, store, clock, events: { publish: (event) => events.push(event) } })
  onTestFinished(() => service.close())
  const ada = visitorOf(hub, 'token:ada', 'call', 'approve')
  const bob = visitorOf(hub, 'token:bob', 'call', 'approve', 'read')
  const eve = visitorOf(hub, 'token:eve', 'call')
  const sendMail = async (viewer: Caller, to = 'x@example.org') => {
    const before = (await store.approvals.list()).length
    const result = viewer.hub.callDynamic('test.sendMail', { to })
    const [ask] = await asksIn(store, before + 1)
    return { id: ask!.id, result }
  }
  return { hub, store, clock, events, service, ada, bob, eve, sendMail }
}

/** A request of a process that is gone. */
async function leaveRequest(store: Store, changes: Partial<NewApproval>, count = 1) {
  const [ask] = await store.approvals.list()
  const { state, answer, used, ...filed } = ask!
  const owner = JSON.stringify({ pid: 2 ** 31 - 2, space: currentProcess().space })
  const left = { ...filed, owner, ...changes }
  for (let index = 0; index < count; index++) {
    const id = count === 1 ? left.id : `${left.id}-${index}`
    await store.approvals.file({ ...left, id, askedAt: left.askedAt + Math.floor(index / 2) })
  }
}

/** The stored request of a principal's call. */
function requestOf(principal: string): string {
  const facts = { targets: [], rule: 'r', reason: 'r', requests: [], labels: [], views: [], history: [], hash: 'h' }
  return JSON.stringify({ caller: 'agent', principal, input: {}, coverage: { exact: 'this call' }, ...facts })
}

describe('approvals', () => {
  it('of a caller that did not stay are answered, and nobody is said to be gone', async () => {
    const { service, ada, bob } = newService()
    const call = () => ada.hub.callDynamic('test.sendMail', { to: 'x@example.org' }, { onAsk: 'return' })
    expect((await call()).status).toBe('approval_required')
    const [seen] = (await service.approvals(bob)).approvals
    expect(seen).toMatchObject({ state: 'waiting', isOrphan: false, isLeft: true, mayAnswer: true })
    const { won, approval } = await service.answer(bob, seen!.id, { decision: 'allow' }, 'console')
    expect([won, approval.state, approval.isLeft]).toEqual([true, 'answered', undefined])
    expect((await call()).ok).toBe(true)
  })

  it('of a token that was revoked say so, in lists and one by one', async () => {
    const { service, ada, bob, store, sendMail } = newService()
    await store.tokens.add({ id: 't-1', name: 'ada', hash: 'h', body: '{}', createdAt: 1 })
    const { id, result } = await sendMail(ada)
    expect((await service.approvals(bob)).approvals[0]).not.toHaveProperty('isRevoked')
    await store.tokens.remove('t-1')
    expect((await service.approvals(bob)).approvals).toMatchObject([{ id, isRevoked: true, state: 'waiting' }])
    expect(await service.approval(bob, id)).toMatchObject({ isRevoked: true })
    const { approval } = await service.answer(bob, id, { decision: 'deny' }, 'console')
    expect(approval).not.toHaveProperty('isRevoked')
    await result
  })

  it('and questions whose answer cannot be stored say so, and continue to wait', async () => {
    const { service, ada, bob, store, sendMail } = newService()
    const { answer } = store.approvals
    const { id, result } = await sendMail(ada)
    const lunch = ada.hub.callDynamic('test.orderLunch', { question: 'What?' })
    const asked = (await asksIn(store, 2)).find(({ kind }) => kind === 'question')!.id
    store.approvals.answer = () => Promise.reject(new Error('the disk is full'))
    const failure = { code: 'RECORDS_UNAVAILABLE', retryable: true, message: expect.stringContaining('disk is full') }
    for (const decision of ['deny', 'allow'] as const)
      await expect(service.answer(bob, id, { decision }, 'console')).rejects.toMatchObject(failure)
    await expect(service.reply(bob, asked, { answer: 'soup' }, 'console')).rejects.toMatchObject(failure)
    expect(await service.approval(bob, id)).toMatchObject({ state: 'waiting', isOrphan: false, mayAnswer: true })
    store.approvals.answer = answer
    expect((await service.answer(bob, id, { decision: 'allow' }, 'console')).won).toBe(true)
    expect((await service.reply(bob, asked, { answer: 'soup' }, 'console')).won).toBe(true)
    expect((await result).ok).toBe(true)
    expect((await lunch).data).toBe('soup')
  })

  it('are seen and allowed by somebody else, with all that helps to decide', async () => {
    const { service, ada, bob, sendMail } = newService()
    const { id, result } = await sendMail(ada)
    const [seen] = (await service.approvals(bob)).approvals
    expect(approvalSchema.parse(seen)).toEqual(seen)
    expect(seen).toMatchObject({
      id,
      caller: 'token:ada',
      state: 'waiting',
      isOrphan: false,
      mayAnswer: true,
      input: { to: 'x@example.org' },
      coverage: { exact: expect.stringContaining('token:ada') },
      reason: 'mail leaves the house',
    })
    const { won, approval } = await service.answer(bob, id, { decision: 'allow' }, 'console')
    expect([won, approval.state, approval.mayAnswer]).toEqual([true, 'answered', false])
    expect(approval.answered).toMatchObject({ by: 'token:bob', via: 'console', decision: 'allow' })
    expect((await result).ok).toBe(true)
    expect(await service.approvals(bob)).toEqual({ approvals: [] })
    expect(await service.approvals(bob, { state: 'all' })).toMatchObject({ approvals: [{ id, state: 'answered' }] })
  })

  it('are not answered by the one who called, who can see that', async () => {
    const { service, ada, bob, sendMail } = newService()
    const { id, result } = await sendMail(ada)
    expect(await service.approval(ada, id)).toMatchObject({ mayAnswer: false })
    await expect(service.answer(ada, id, { decision: 'allow' }, 'http')).rejects.toMatchObject({
      code: 'POLICY_DENIED',
    })
    expect(await service.approval(bob, id)).toMatchObject({ state: 'waiting' })
    await service.answer(bob, id, { decision: 'deny', reason: 'no mail today' }, 'http')
    expect(await result).toMatchObject({ ok: false, error: { code: 'APPROVAL_DENIED' } })
  })

  it('cannot be answered in another name', async () => {
    const { service, ada, bob, sendMail } = newService()
    const { id } = await sendMail(ada)
    const asBob = { decision: 'allow', by: 'token:bob' } as const
    await expect(service.answer(ada, id, asBob, 'http')).rejects.toMatchObject({ code: 'POLICY_DENIED' })
    await service.answer(bob, id, { decision: 'deny', by: 'owner', via: 'terminal' } as never, 'http')
    expect((await service.approval(bob, id)).answered).toMatchObject({ by: 'token:bob', via: 'http' })
  })

  it('take the scope to answer; without any scope only the own ones are seen', async () => {
    const { service, hub, bob, eve, sendMail } = newService()
    const others = await sendMail(bob)
    const own = await sendMail(eve, 'y@example.org')
    expect((await service.approvals(eve)).approvals.map(({ id }) => id)).toEqual([own.id])
    await expect(service.approval(eve, others.id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(service.answer(eve, others.id, { decision: 'allow' }, 'http')).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
    const reader = visitorOf(hub, 'token:reader', 'read')
    expect((await service.approvals(reader)).approvals.map(({ mayAnswer }) => mayAnswer)).toEqual([false, false])
    await expect(service.answer(reader, own.id, { decision: 'allow' }, 'http')).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
  })

  it('go to the first of several answers', async () => {
    const { service, hub, ada, bob, sendMail } = newService()
    const cleo = visitorOf(hub, 'token:cleo', 'approve')
    const { id, result } = await sendMail(ada)
    const outcomes = await Promise.all([
      service.answer(bob, id, { decision: 'deny' }, 'http'),
      service.answer(cleo, id, { decision: 'allow' }, 'websocket'),
    ])
    expect(outcomes.map(({ won }) => won)).toEqual([true, false])
    expect(outcomes[1].approval.answered).toMatchObject({ by: 'token:bob', decision: 'deny' })
    expect((await result).error?.code).toBe('APPROVAL_DENIED')
  })

  it('say that their process is gone, and keep the answer for the same call made again', async () => {
    const { service, store, ada, bob, sendMail } = newService()
    const first = await sendMail(ada)
    await leaveRequest(store, { id: 'left' })
    expect(await service.approval(bob, 'left')).toMatchObject({ isOrphan: true, mayAnswer: true })
    await service.answer(bob, first.id, { decision: 'deny' }, 'http')
    await first.result
    expect((await service.answer(bob, 'left', { decision: 'allow' }, 'http')).won).toBe(true)
    expect((await ada.hub.callDynamic('test.sendMail', { to: 'x@example.org' })).ok).toBe(true)
  })

  it('are over when their time is, also when nobody is left to say so', async () => {
    const { service, store, clock, ada, bob, sendMail } = newService()
    await sendMail(ada)
    await leaveRequest(store, { id: 'left', expiresAt: clock.now() + 1_000 })
    await clock.advance(1_000)
    expect((await service.approvals(bob)).approvals.map(({ id }) => id)).not.toContain('left')
    expect(await service.approval(bob, 'left')).toMatchObject({ state: 'expired', isOrphan: false, mayAnswer: false })
    expect((await service.answer(bob, 'left', { decision: 'allow' }, 'http')).won).toBe(false)
  })

  it('of one principal are found behind any number of others', async () => {
    const { service, store, clock, ada, bob, eve, sendMail } = newService()
    const own = await sendMail(eve)
    await clock.advance(1)
    await sendMail(ada)
    await leaveRequest(store, { id: 'other' }, 1_100)
    expect((await service.approvals(eve)).approvals.map(({ id }) => id)).toEqual([own.id])
    expect((await service.approvals(bob, { limit: 3 })).approvals).toHaveLength(3)
  })

  it('that cannot be read do not hide the others', async () => {
    const { service, store, ada, bob, sendMail } = newService()
    const { id } = await sendMail(ada)
    await leaveRequest(store, { id: 'broken', request: '{"input":' })
    expect((await service.approvals(bob)).approvals.map((each) => each.id)).toEqual([id])
    await expect(service.approval(bob, 'broken')).rejects.toMatchObject({ code: 'INTERNAL' })
    await expect(service.answer(bob, 'broken', { decision: 'allow' }, 'http')).rejects.toMatchObject({
      code: 'INTERNAL',
    })
  })

  it('are no questions, and unknown ones are not there', async () => {
    const { service, ada, bob, sendMail } = newService()
    const { id } = await sendMail(ada)
    await expect(service.reply(bob, id, { answer: 'yes' }, 'http')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(service.approval(bob, 'constructor')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('a flood of requests', () => {
  it('of one principal ends at 100 that wait, and is on nobody else', async () => {
    const { service, store, ada, bob, eve } = newService()
    const leave = (viewer: Caller, to: string) => viewer.hub.callDynamic('test.sendMail', { to }, { onAsk: 'return' })
    const results = await Promise.all(Array.from({ length: 102 }, (_, n) => leave(eve, `${n}@example.org`)))
    const refused = results.filter(({ error }) => error?.code === 'RATE_LIMITED')
    expect(refused).toHaveLength(2)
    expect(refused[0]!.error).toMatchObject({
      message: '100 approval requests of token:eve are waiting for an answer already.',
      fix: { hint: expect.stringContaining('answered some of them') },
    })
    expect((await leave(ada, 'x@example.org')).status).toBe('approval_required')
    // A call that would wait is refused immediately, too, however many watch.
    const stop = service.attend(bob)
    expect((await eve.hub.callDynamic('test.sendMail', { to: 'y' })).error?.code).toBe('RATE_LIMITED')
    stop()
    const [first] = await store.approvals.briefs({ caller: 'token:eve', limit: 1 })
    await service.answer(bob, first!.id, { decision: 'deny' }, 'http')
    expect((await leave(eve, 'again@example.org')).status).toBe('approval_required')
  })

  it('of a hub without principals has more room', async () => {
    const { hub } = askingHub()
    const results = await Promise.all(
      Array.from({ length: 110 }, (_, n) => hub.callDynamic('test.sendMail', { to: `${n}` }, { onAsk: 'return' })),
    )
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['approval_required']))
  })

  it('pushes nobody out of the list, whose pages together hold everything', async () => {
    const { service, store, clock, ada, bob, sendMail } = newService()
    const { id } = await sendMail(ada)
    await clock.advance(10)
    // 40 of them in the same millisecond.
    await leaveRequest(store, { id: 'flood', caller: 'token:mallory', request: requestOf('token:mallory') }, 60)
    const same = { caller: 'token:mallory', request: requestOf('token:mallory'), askedAt: clock.now() + 500 }
    for (let n = 0; n < 40; n++) await leaveRequest(store, { ...same, id: `same-${n}` })
    const page = await service.approvals(bob, { limit: 10 })
    expect(page.approvals).toHaveLength(10)
    expect(page.approvals.map((each) => each.id)).toContain(id)
    const seen = new Set<string>()
    let before: string | undefined
    for (let pages = 0; pages < 30; pages++) {
      const { approvals, next } = await service.approvals(bob, { limit: 10, ...(before && { before }) })
      for (const each of approvals) seen.add(each.id)
      before = next
      if (next === undefined) break
    }
    expect(before).toBeUndefined()
    expect(seen.size).toBe(101)
    await expect(service.approvals(bob, { before: 'yesterday' })).rejects.toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
    })
  })

  it('of large requests is short in lists and events, and whole one by one', async () => {
    const { service, events, ada, bob } = newService()
    const to = 'ä'.repeat(300_000)
    for (let n = 0; n < 5; n++) await ada.hub.callDynamic('test.sendMail', { to: `${n}${to}` }, { onAsk: 'return' })
    const { approvals } = await service.approvals(bob)
    expect(approvals).toHaveLength(5)
    for (const each of approvals) {
      expect(approvalSchema.parse(each)).toEqual(each)
      expect(each).toMatchObject({ isCut: true, mayAnswer: true, reason: 'mail leaves the house' })
      expect(Buffer.byteLength(JSON.stringify(each))).toBeLessThan(8_000)
    }
    await eventually(() => expect(events).toHaveLength(5))
    expect(JSON.stringify(events).length).toBeLessThan(40_000)
    const whole = await service.approval(bob, approvals[0]!.id)
    expect(whole).not.toHaveProperty('isCut')
    expect(whole.input).toMatchObject({ to: expect.stringMatching(/^4ä{300000}$/) })
  })

  it('lets others have their turn while a list of large requests is made', async () => {
    const { service, ada, bob } = newService()
    const to = 'x'.repeat(200_000)
    for (let n = 0; n < 20; n++) await ada.hub.callDynamic('test.sendMail', { to: `${n}${to}` }, { onAsk: 'return' })
    let turns = 0
    let isDone = false
    const turn = () => {
      turns++
      if (!isDone) setImmediate(turn)
    }
    setImmediate(turn)
    await service.approvals(bob)
    isDone = true
    expect(turns).toBeGreaterThan(10)
  })
})

describe('an answer', () => {
  it('says why it was given, what is remembered and whether the arguments were changed', async () => {
    const { service, ada, bob, sendMail } = newService()
    const first = await sendMail(ada)
    const no = await service.answer(
      bob,
      first.id,
      { decision: 'deny', reason: 'not today', remember: 'session' },
      'http',
    )
    expect(no.approval.answered).toMatchObject({ decision: 'deny', reason: 'not today', remember: 'session' })
    expect(no.approval.answered).not.toHaveProperty('changed')
    await first.result
    const second = await sendMail(ada, 'y@example.org')
    const yes = await service.answer(bob, second.id, { decision: 'allow', input: { to: 'z@example.org' } }, 'http')
    expect(yes.approval.answered).toMatchObject({ decision: 'allow', changed: true })
    await second.result
  })
})

describe('questions', () => {
  it('are answered by text or by the values of their form, also by the person behind the agent', async () => {
    const { service, store, bob } = newService()
    const lunch = bob.hub.callDynamic('test.orderLunch', { question: 'Lunch?', options: ['soup', 'salad'] })
    const [asked] = await asksIn(store)
    expect((await service.questions(bob)).questions).toMatchObject([
      { question: 'Lunch?', options: ['soup', 'salad'], mayAnswer: true },
    ])
    const { won, question } = await service.reply(bob, asked!.id, { answer: 'soup' }, 'console')
    expect([won, question.answered]).toMatchObject([true, { by: 'token:bob', via: 'console', answer: 'soup' }])
    expect((await lunch).data).toBe('soup')

    const form = { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] }
    const dinner = bob.hub.callDynamic('test.orderLunch', { question: 'Dinner?', form })
    const { id } = (await asksIn(store, 2)).find(({ state }) => state === 'waiting')!
    await expect(service.reply(bob, id, { values: { size: 'big' } }, 'http')).rejects.toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
    })
    await expect(service.reply(bob, id, {}, 'http')).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
    await service.reply(bob, id, { values: { size: 3 } }, 'http')
    expect((await dinner).data).toEqual({ size: 3 })
    expect((await service.question(bob, id)).answered?.answer).toEqual({ size: 3 })
  })
})

describe('callers who watch', () => {
  it('are notified of requests in order', async () => {
    const { service, events, ada, bob, sendMail } = newService()
    const { id } = await sendMail(ada)
    await service.answer(bob, id, { decision: 'allow' }, 'http')
    await eventually(() => expect(states(events).at(-1)).toBe('answered'))
    expect(states(events)[0]).toBe('waiting')
    expect(states(events).indexOf('answered')).toBeGreaterThan(states(events).lastIndexOf('waiting'))
  })

  it('make somebody reachable while they may answer, and not before or after', async () => {
    const { hub, store, clock } = askingHub({ approvals: { timeoutMs: 60_000 } })
    const service = createApprovalService({ hub, store, clock, events: { publish: () => {} } })
    const ada = visitorOf(hub, 'token:ada', 'call')
    const call = () => ada.hub.callDynamic('test.sendMail', { to: 'x@example.org' })
    const lookOn = service.attend(visitorOf(hub, 'token:reader', 'read'))
    expect((await call()).error?.code).toBe('APPROVAL_UNAVAILABLE')
    const leave = service.attend(visitorOf(hub, 'token:bob', 'approve'))
    const waiting = call()
    await asksIn(store)
    leave()
    expect((await waiting).error?.code).toBe('APPROVAL_UNAVAILABLE')
    lookOn()
    service.close()
  })
})

function states(events: readonly ServiceEvent[]): string[] {
  return events.flatMap((event) => (event.type === 'approval' ? [event.approval.state] : []))
}
