import { describe, expect, it, onTestFinished } from 'vitest'
import { askingHub, asksIn, visitorOf } from '../../../test/support/asking-hub.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { currentProcess } from '../../disk/process-identity.ts'
import type { NewAsk, Store } from '../../store.ts'
import { approval as approvalSchema } from '../api/asks.ts'
import type { ServiceEvent } from '../api/service.ts'
import type { Visitor } from '../service.ts'
import { createAskDesk } from './create-ask-desk.ts'

function newDesk() {
  const { hub, store, clock } = askingHub()
  const told: ServiceEvent[] = []
  const desk = createAskDesk({ hub, store, clock, feed: { publish: (event) => told.push(event) } })
  onTestFinished(() => desk.close())
  const ada = visitorOf(hub, 'token:ada', 'call', 'approve')
  const bob = visitorOf(hub, 'token:bob', 'call', 'approve', 'read')
  const eve = visitorOf(hub, 'token:eve', 'call')
  const sendMail = async (visitor: Visitor, to = 'x@example.org') => {
    const before = (await store.asks.list()).length
    const result = visitor.hub.callDynamic('test.sendMail', { to })
    const [ask] = await asksIn(store, before + 1)
    return { id: ask!.id, result }
  }
  return { hub, store, clock, told, desk, ada, bob, eve, sendMail }
}

/** An ask of a process that is gone. */
async function leaveAsk(store: Store, changes: Partial<NewAsk>, count = 1) {
  const [ask] = await store.asks.list()
  const { state, answer, used, ...filed } = ask!
  const owner = JSON.stringify({ pid: 2 ** 31 - 2, space: currentProcess().space })
  const left = { ...filed, owner, ...changes }
  for (let index = 0; index < count; index++) {
    const id = count === 1 ? left.id : `${left.id}-${index}`
    await store.asks.file({ ...left, id, askedAt: left.askedAt + Math.floor(index / 2) })
  }
}

/** What a call of somebody asks for. */
function requestOf(principal: string): string {
  const facts = { targets: [], rule: 'r', reason: 'r', requests: [], labels: [], views: [], history: [], hash: 'h' }
  return JSON.stringify({ caller: 'agent', principal, input: {}, coverage: { exact: 'this call' }, ...facts })
}

describe('approvals', () => {
  it('of a caller that did not stay are answered, and nobody is said to be gone', async () => {
    const { desk, ada, bob } = newDesk()
    const call = () => ada.hub.callDynamic('test.sendMail', { to: 'x@example.org' }, { onAsk: 'return' })
    expect((await call()).status).toBe('approval_required')
    const [seen] = (await desk.approvals(bob)).approvals
    expect(seen).toMatchObject({ state: 'waiting', isOrphan: false, isLeft: true, mayAnswer: true })
    const { won, approval } = await desk.answer(bob, seen!.id, { decision: 'allow' }, 'console')
    expect([won, approval.state, approval.isLeft]).toEqual([true, 'answered', undefined])
    expect((await call()).ok).toBe(true)
  })

  it('of a token that was revoked say so, in lists and one by one', async () => {
    const { desk, ada, bob, store, sendMail } = newDesk()
    await store.tokens.add({ id: 't-1', name: 'ada', hash: 'h', body: '{}', createdAt: 1 })
    const { id, result } = await sendMail(ada)
    expect((await desk.approvals(bob)).approvals[0]).not.toHaveProperty('isRevoked')
    await store.tokens.remove('t-1')
    expect((await desk.approvals(bob)).approvals).toMatchObject([{ id, isRevoked: true, state: 'waiting' }])
    expect(await desk.approval(bob, id)).toMatchObject({ isRevoked: true })
    const { approval } = await desk.answer(bob, id, { decision: 'deny' }, 'console')
    expect(approval).not.toHaveProperty('isRevoked')
    await result
  })

  it('and questions whose answer cannot be stored say so, and wait on', async () => {
    const { desk, ada, bob, store, sendMail } = newDesk()
    const { answer } = store.asks
    const { id, result } = await sendMail(ada)
    const lunch = ada.hub.callDynamic('test.orderLunch', { question: 'What?' })
    const asked = (await asksIn(store, 2)).find(({ kind }) => kind === 'question')!.id
    store.asks.answer = () => Promise.reject(new Error('the disk is full'))
    const failure = { code: 'RECORDS_UNAVAILABLE', retryable: true, message: expect.stringContaining('disk is full') }
    for (const decision of ['deny', 'allow'] as const)
      await expect(desk.answer(bob, id, { decision }, 'console')).rejects.toMatchObject(failure)
    await expect(desk.reply(bob, asked, { answer: 'soup' }, 'console')).rejects.toMatchObject(failure)
    expect(await desk.approval(bob, id)).toMatchObject({ state: 'waiting', isOrphan: false, mayAnswer: true })
    store.asks.answer = answer
    expect((await desk.answer(bob, id, { decision: 'allow' }, 'console')).won).toBe(true)
    expect((await desk.reply(bob, asked, { answer: 'soup' }, 'console')).won).toBe(true)
    expect((await result).ok).toBe(true)
    expect((await lunch).data).toBe('soup')
  })

  it('are seen and allowed by somebody else, with all that helps to decide', async () => {
    const { desk, ada, bob, sendMail } = newDesk()
    const { id, result } = await sendMail(ada)
    const [seen] = (await desk.approvals(bob)).approvals
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
    const { won, approval } = await desk.answer(bob, id, { decision: 'allow' }, 'console')
    expect([won, approval.state, approval.mayAnswer]).toEqual([true, 'answered', false])
    expect(approval.answered).toMatchObject({ by: 'token:bob', via: 'console', decision: 'allow' })
    expect((await result).ok).toBe(true)
    expect(await desk.approvals(bob)).toEqual({ approvals: [] })
    expect(await desk.approvals(bob, { state: 'all' })).toMatchObject({ approvals: [{ id, state: 'answered' }] })
  })

  it('are not answered by the one who called, who can see that', async () => {
    const { desk, ada, bob, sendMail } = newDesk()
    const { id, result } = await sendMail(ada)
    expect(await desk.approval(ada, id)).toMatchObject({ mayAnswer: false })
    await expect(desk.answer(ada, id, { decision: 'allow' }, 'http')).rejects.toMatchObject({ code: 'POLICY_DENIED' })
    expect(await desk.approval(bob, id)).toMatchObject({ state: 'waiting' })
    await desk.answer(bob, id, { decision: 'deny', reason: 'no mail today' }, 'http')
    expect(await result).toMatchObject({ ok: false, error: { code: 'APPROVAL_DENIED' } })
  })

  it('cannot be answered in another name', async () => {
    const { desk, ada, bob, sendMail } = newDesk()
    const { id } = await sendMail(ada)
    const asBob = { decision: 'allow', by: 'token:bob' } as const
    await expect(desk.answer(ada, id, asBob, 'http')).rejects.toMatchObject({ code: 'POLICY_DENIED' })
    await desk.answer(bob, id, { decision: 'deny', by: 'owner', via: 'terminal' } as never, 'http')
    expect((await desk.approval(bob, id)).answered).toMatchObject({ by: 'token:bob', via: 'http' })
  })

  it('take the scope to answer; without any scope only the own ones are seen', async () => {
    const { desk, hub, bob, eve, sendMail } = newDesk()
    const others = await sendMail(bob)
    const own = await sendMail(eve, 'y@example.org')
    expect((await desk.approvals(eve)).approvals.map(({ id }) => id)).toEqual([own.id])
    await expect(desk.approval(eve, others.id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(desk.answer(eve, others.id, { decision: 'allow' }, 'http')).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
    const reader = visitorOf(hub, 'token:reader', 'read')
    expect((await desk.approvals(reader)).approvals.map(({ mayAnswer }) => mayAnswer)).toEqual([false, false])
    await expect(desk.answer(reader, own.id, { decision: 'allow' }, 'http')).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
  })

  it('go to the first of several answers', async () => {
    const { desk, hub, ada, bob, sendMail } = newDesk()
    const cleo = visitorOf(hub, 'token:cleo', 'approve')
    const { id, result } = await sendMail(ada)
    const outcomes = await Promise.all([
      desk.answer(bob, id, { decision: 'deny' }, 'http'),
      desk.answer(cleo, id, { decision: 'allow' }, 'websocket'),
    ])
    expect(outcomes.map(({ won }) => won)).toEqual([true, false])
    expect(outcomes[1].approval.answered).toMatchObject({ by: 'token:bob', decision: 'deny' })
    expect((await result).error?.code).toBe('APPROVAL_DENIED')
  })

  it('say that their process is gone, and keep the answer for the same call made again', async () => {
    const { desk, store, ada, bob, sendMail } = newDesk()
    const first = await sendMail(ada)
    await leaveAsk(store, { id: 'left' })
    expect(await desk.approval(bob, 'left')).toMatchObject({ isOrphan: true, mayAnswer: true })
    await desk.answer(bob, first.id, { decision: 'deny' }, 'http')
    await first.result
    expect((await desk.answer(bob, 'left', { decision: 'allow' }, 'http')).won).toBe(true)
    expect((await ada.hub.callDynamic('test.sendMail', { to: 'x@example.org' })).ok).toBe(true)
  })

  it('are over when their time is, also when nobody is left to say so', async () => {
    const { desk, store, clock, ada, bob, sendMail } = newDesk()
    await sendMail(ada)
    await leaveAsk(store, { id: 'left', expiresAt: clock.now() + 1_000 })
    await clock.advance(1_000)
    expect((await desk.approvals(bob)).approvals.map(({ id }) => id)).not.toContain('left')
    expect(await desk.approval(bob, 'left')).toMatchObject({ state: 'expired', isOrphan: false, mayAnswer: false })
    expect((await desk.answer(bob, 'left', { decision: 'allow' }, 'http')).won).toBe(false)
  })

  it('of one principal are found behind any number of others', async () => {
    const { desk, store, clock, ada, bob, eve, sendMail } = newDesk()
    const own = await sendMail(eve)
    await clock.advance(1)
    await sendMail(ada)
    await leaveAsk(store, { id: 'other' }, 1_100)
    expect((await desk.approvals(eve)).approvals.map(({ id }) => id)).toEqual([own.id])
    expect((await desk.approvals(bob, { limit: 3 })).approvals).toHaveLength(3)
  })

  it('that cannot be read do not hide the others', async () => {
    const { desk, store, ada, bob, sendMail } = newDesk()
    const { id } = await sendMail(ada)
    await leaveAsk(store, { id: 'broken', request: '{"input":' })
    expect((await desk.approvals(bob)).approvals.map((each) => each.id)).toEqual([id])
    await expect(desk.approval(bob, 'broken')).rejects.toMatchObject({ code: 'INTERNAL' })
    await expect(desk.answer(bob, 'broken', { decision: 'allow' }, 'http')).rejects.toMatchObject({ code: 'INTERNAL' })
  })

  it('are no questions, and unknown ones are not there', async () => {
    const { desk, ada, bob, sendMail } = newDesk()
    const { id } = await sendMail(ada)
    await expect(desk.reply(bob, id, { answer: 'yes' }, 'http')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(desk.approval(bob, 'constructor')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('a flood of asks', () => {
  it('of one principal ends at 100 that wait, and is on nobody else', async () => {
    const { desk, store, ada, bob, eve } = newDesk()
    const leave = (visitor: Visitor, to: string) =>
      visitor.hub.callDynamic('test.sendMail', { to }, { onAsk: 'return' })
    const results = await Promise.all(Array.from({ length: 102 }, (_, n) => leave(eve, `${n}@example.org`)))
    const refused = results.filter(({ error }) => error?.code === 'RATE_LIMITED')
    expect(refused).toHaveLength(2)
    expect(refused[0]!.error).toMatchObject({
      message: '100 asks of token:eve wait for an answer already.',
      fix: { hint: expect.stringContaining('answered some of them') },
    })
    expect((await leave(ada, 'x@example.org')).status).toBe('approval_required')
    // Also one that waits is refused at once, however many watch.
    const stop = desk.attend(bob)
    expect((await eve.hub.callDynamic('test.sendMail', { to: 'y' })).error?.code).toBe('RATE_LIMITED')
    stop()
    const [first] = await store.asks.briefs({ caller: 'token:eve', limit: 1 })
    await desk.answer(bob, first!.id, { decision: 'deny' }, 'http')
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
    const { desk, store, clock, ada, bob, sendMail } = newDesk()
    const { id } = await sendMail(ada)
    await clock.advance(10)
    // 40 of them in the same millisecond.
    await leaveAsk(store, { id: 'flood', caller: 'token:mallory', request: requestOf('token:mallory') }, 60)
    const same = { caller: 'token:mallory', request: requestOf('token:mallory'), askedAt: clock.now() + 500 }
    for (let n = 0; n < 40; n++) await leaveAsk(store, { ...same, id: `same-${n}` })
    const page = await desk.approvals(bob, { limit: 10 })
    expect(page.approvals).toHaveLength(10)
    expect(page.approvals.map((each) => each.id)).toContain(id)
    const seen = new Set<string>()
    let before: string | undefined
    for (let pages = 0; pages < 30; pages++) {
      const { approvals, next } = await desk.approvals(bob, { limit: 10, ...(before && { before }) })
      for (const each of approvals) seen.add(each.id)
      before = next
      if (next === undefined) break
    }
    expect(before).toBeUndefined()
    expect(seen.size).toBe(101)
    await expect(desk.approvals(bob, { before: 'yesterday' })).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
  })

  it('of large asks is short in lists and to those who watch, and whole one by one', async () => {
    const { desk, told, ada, bob } = newDesk()
    const to = 'ä'.repeat(300_000)
    for (let n = 0; n < 5; n++) await ada.hub.callDynamic('test.sendMail', { to: `${n}${to}` }, { onAsk: 'return' })
    const { approvals } = await desk.approvals(bob)
    expect(approvals).toHaveLength(5)
    for (const each of approvals) {
      expect(approvalSchema.parse(each)).toEqual(each)
      expect(each).toMatchObject({ isCut: true, mayAnswer: true, reason: 'mail leaves the house' })
      expect(Buffer.byteLength(JSON.stringify(each))).toBeLessThan(8_000)
    }
    await eventually(() => expect(told).toHaveLength(5))
    expect(JSON.stringify(told).length).toBeLessThan(40_000)
    const whole = await desk.approval(bob, approvals[0]!.id)
    expect(whole).not.toHaveProperty('isCut')
    expect(whole.input).toMatchObject({ to: expect.stringMatching(/^4ä{300000}$/) })
  })

  it('lets others have their turn while a list of large asks is made', async () => {
    const { desk, ada, bob } = newDesk()
    const to = 'x'.repeat(200_000)
    for (let n = 0; n < 20; n++) await ada.hub.callDynamic('test.sendMail', { to: `${n}${to}` }, { onAsk: 'return' })
    let turns = 0
    let isDone = false
    const turn = () => {
      turns++
      if (!isDone) setImmediate(turn)
    }
    setImmediate(turn)
    await desk.approvals(bob)
    isDone = true
    expect(turns).toBeGreaterThan(10)
  })
})

describe('an answer', () => {
  it('says why it was given, what is remembered and whether the arguments were changed', async () => {
    const { desk, ada, bob, sendMail } = newDesk()
    const first = await sendMail(ada)
    const no = await desk.answer(bob, first.id, { decision: 'deny', reason: 'not today', remember: 'session' }, 'http')
    expect(no.approval.answered).toMatchObject({ decision: 'deny', reason: 'not today', remember: 'session' })
    expect(no.approval.answered).not.toHaveProperty('changed')
    await first.result
    const second = await sendMail(ada, 'y@example.org')
    const yes = await desk.answer(bob, second.id, { decision: 'allow', input: { to: 'z@example.org' } }, 'http')
    expect(yes.approval.answered).toMatchObject({ decision: 'allow', changed: true })
    await second.result
  })
})

describe('questions', () => {
  it('are answered by text or by the values of their form, also by the person behind the agent', async () => {
    const { desk, store, bob } = newDesk()
    const lunch = bob.hub.callDynamic('test.orderLunch', { question: 'Lunch?', options: ['soup', 'salad'] })
    const [asked] = await asksIn(store)
    expect((await desk.questions(bob)).questions).toMatchObject([
      { question: 'Lunch?', options: ['soup', 'salad'], mayAnswer: true },
    ])
    const { won, question } = await desk.reply(bob, asked!.id, { answer: 'soup' }, 'console')
    expect([won, question.answered]).toMatchObject([true, { by: 'token:bob', via: 'console', answer: 'soup' }])
    expect((await lunch).data).toBe('soup')

    const form = { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] }
    const dinner = bob.hub.callDynamic('test.orderLunch', { question: 'Dinner?', form })
    const { id } = (await asksIn(store, 2)).find(({ state }) => state === 'waiting')!
    await expect(desk.reply(bob, id, { values: { size: 'big' } }, 'http')).rejects.toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
    })
    await expect(desk.reply(bob, id, {}, 'http')).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
    await desk.reply(bob, id, { values: { size: 3 } }, 'http')
    expect((await dinner).data).toEqual({ size: 3 })
    expect((await desk.question(bob, id)).answered?.answer).toEqual({ size: 3 })
  })
})

describe('those who watch', () => {
  it('hear of asks in their order, whoever answers', async () => {
    const { desk, told, ada, bob, sendMail } = newDesk()
    const { id } = await sendMail(ada)
    await desk.answer(bob, id, { decision: 'allow' }, 'http')
    await eventually(() => expect(states(told).at(-1)).toBe('answered'))
    expect(states(told)[0]).toBe('waiting')
    expect(states(told).indexOf('answered')).toBeGreaterThan(states(told).lastIndexOf('waiting'))
  })

  it('make somebody reachable while they may answer, and not before or after', async () => {
    const { hub, store, clock } = askingHub({ approvals: { timeoutMs: 60_000 } })
    const desk = createAskDesk({ hub, store, clock, feed: { publish: () => {} } })
    const ada = visitorOf(hub, 'token:ada', 'call')
    const call = () => ada.hub.callDynamic('test.sendMail', { to: 'x@example.org' })
    const lookOn = desk.attend(visitorOf(hub, 'token:reader', 'read'))
    expect((await call()).error?.code).toBe('APPROVAL_UNAVAILABLE')
    const leave = desk.attend(visitorOf(hub, 'token:bob', 'approve'))
    const waiting = call()
    await asksIn(store)
    leave()
    expect((await waiting).error?.code).toBe('APPROVAL_UNAVAILABLE')
    lookOn()
    desk.close()
  })
})

function states(events: readonly ServiceEvent[]): string[] {
  return events.flatMap((event) => (event.type === 'approval' ? [event.approval.state] : []))
}
