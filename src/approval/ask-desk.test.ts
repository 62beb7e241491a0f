import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { ToolError } from '../errors.ts'
import type { HubOptions } from '../options.ts'
import type { ApprovalReply, ApprovalRequest } from '../result.ts'
import { createMemoryStore } from '../store/memory/create-memory-store.ts'
import type { Store } from '../store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { AskBoard, isLeftAsk } from './ask-board.ts'
import { ApprovalDesk } from './desk.ts'

const request: ApprovalRequest = {
  id: 'approval-1',
  callId: 'call-1',
  run: 'run-1',
  tool: 'notes.save',
  input: { path: 'a' },
  targets: ['write:fs /a'],
  rule: 'ask write:fs',
  reason: 'it writes',
  caller: 'test',
  requests: [],
  labels: [],
  views: [],
  history: [],
  coverage: { exact: 'this very call' },
  hash: 'hash-1',
  askedAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2026-01-01T00:00:01.000Z',
}
const never = new AbortController().signal
const ways = { hash: request.hash }
const asked = { hash: request.hash, caller: request.caller }
const full = new Error('disk full')
const hangs = () => new Promise<ApprovalReply>(() => {})
const settled = () => new Promise(setImmediate)
const unavailable = (why: string) => ({
  code: 'APPROVAL_UNAVAILABLE',
  message: `notes.save needs an approval and ${why}: it writes (ask write:fs)`,
  details: { approval: 'approval-1' },
})

interface DeskOptions {
  readonly approve?: HubOptions['approve']
  readonly store?: Store
  readonly waitsInStore?: boolean
  readonly outlives?: boolean
}

/** A desk, and what is in its store; `background` has one entry for each timer that was set. */
function newDesk({ store: given, ...options }: DeskOptions = {}) {
  const fake = fakeClock()
  const background: (boolean | undefined)[] = []
  const clock = {
    ...fake,
    after(ms: number, callback: () => void, options?: { readonly background?: boolean }) {
      background.push(options?.background)
      return fake.after(ms, callback)
    },
  }
  const store = given ?? createMemoryStore({ now: clock.now })
  const desk = new ApprovalDesk({ timeoutMs: 1000, clock, board: new AskBoard(store, clock), ...options })
  const stored = async () => (await store.asks.find(request.id))!
  return { desk, store, stored, background, clock: fake }
}

/** A call that waits until the request is in the store. */
async function waiting(options: DeskOptions & { readonly signal?: AbortSignal; readonly request?: ApprovalRequest }) {
  const { signal = never, request: mine = request, ...rest } = options
  const made = newDesk({ waitsInStore: true, ...rest })
  const answer = made.desk.ask(mine, signal, ways)
  answer.catch(() => {})
  await settled()
  return { ...made, answer }
}

describe('a request', () => {
  it('is filed with the call, who makes it and its times', async () => {
    const { stored } = await waiting({ request: { ...request, principal: 'token:ci' } })
    const { owner, ...filed } = await stored()
    expect(filed).toEqual({
      id: 'approval-1',
      kind: 'approval',
      callId: 'call-1',
      run: 'run-1',
      tool: 'notes.save',
      caller: 'token:ci',
      hash: 'hash-1',
      request: JSON.stringify({ ...request, principal: 'token:ci' }),
      askedAt: Date.parse(request.askedAt),
      expiresAt: Date.parse(request.expiresAt),
      state: 'waiting',
      used: false,
    })
    expect(isLeftAsk({ owner })).toBe(false)
  })

  it('says that it was made, also where nobody can be asked', async () => {
    let times = 0
    const onAsked = () => times++
    const { desk } = newDesk()
    await expect(desk.ask(request, never, { ...ways, onAsked })).rejects.toMatchObject(
      unavailable('nobody can be asked'),
    )
    expect(times).toBe(1)
    desk.watch(({ id }) => desk.reply(id, { decision: 'allow' }))
    await desk.ask(request, never, { ...ways, onAsked })
    expect(times).toBe(2)
  })

  it('is shown to nobody when the call was stopped before', async () => {
    const { desk } = newDesk({ approve: hangs })
    const seen: string[] = []
    desk.watch(({ id }) => seen.push(id))
    const stopper = new AbortController()
    const asking = desk.ask(request, stopper.signal, { ...ways, onAsked: () => seen.push('asked') })
    stopper.abort()
    await expect(asking).rejects.toMatchObject({
      code: 'ABORTED',
      message: 'The caller stopped notes.save while it waited for an approval.',
      cause: stopper.signal.reason,
    })
    await settled()
    expect(seen).toEqual([])
  })

  it('leaves no listener at the signal of the call', async () => {
    const stopper = new AbortController()
    const { desk, answer } = await waiting({ signal: stopper.signal })
    expect(getEventListeners(stopper.signal, 'abort')).toHaveLength(1)
    desk.reply(request.id, { decision: 'allow' })
    await answer
    expect(getEventListeners(stopper.signal, 'abort')).toEqual([])
  })

  it('is over when it comes too late, and keeps the process alive while a call waits for it', async () => {
    const { desk, clock, background } = newDesk({ waitsInStore: true })
    const late = { ...request, expiresAt: '2025-12-31T23:59:59.000Z' }
    const asking = expect(desk.ask(late, never, ways)).rejects.toMatchObject({
      code: 'APPROVAL_TIMEOUT',
      message: 'Nobody answered for notes.save within -1000 ms.',
      details: { approval: 'approval-1', timeoutMs: -1000 },
    })
    await clock.advance(0)
    await asking
    expect(background).toEqual([false])
  })

  it('of a principal with enough of them is refused, whoever could answer', async () => {
    let calls = 0
    const approve = () => {
      calls++
      return { decision: 'allow' } as const
    }
    const mine = { ...request, principal: 'token:ci' }
    const { desk, store } = newDesk({ approve })
    const facts = { kind: 'approval', callId: 'c', run: 'r', tool: 't', hash: 'h', request: '{}', owner: 'x' } as const
    const times = { askedAt: Date.parse(request.askedAt), expiresAt: Date.parse(request.expiresAt) }
    for (let index = 0; index < 100; index++)
      await store.asks.file({ ...facts, ...times, caller: 'token:ci', id: `other-${index}` })
    const onAsked = () => calls++
    await expect(desk.ask(mine, never, { ...ways, onAsked })).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    await expect(desk.leave(mine, ways)).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    await settled()
    expect(calls).toBe(0)
    expect(desk.list()).toEqual([])
  })

  it('is answered by code although the store refuses it for another reason', async () => {
    const { desk, store } = newDesk({ approve: () => ({ decision: 'allow', by: 'ada' }) })
    store.asks.file = () => Promise.reject(new ToolError('CONFLICT', 'It is filed already.'))
    expect(await desk.ask(request, never, ways)).toMatchObject({ by: 'ada' })
  })

  it('is adopted as it is in the store: it waits, has an answer, or is gone', async () => {
    const yes = { reply: '{"decision":"allow"}', by: 'ada', via: 'cli', at: Date.parse(request.askedAt) }
    const adopt = async (change: (store: Store) => unknown) => {
      const { desk, store } = newDesk({ waitsInStore: true })
      await desk.leave(request, ways)
      expect((await desk.adopt(asked))?.id).toBe(request.id)
      await change(store)
      const answer = desk.ask(request, never, { ...ways, isAdopted: true })
      answer.catch(() => {})
      await settled()
      return { desk, store, answer }
    }
    const waits = await adopt(() => {})
    await waits.store.asks.answer(request.id, yes)
    expect(await waits.answer).toMatchObject({ by: 'ada' })
    const answered = await adopt((store) => store.asks.answer(request.id, yes))
    expect(await answered.answer).toMatchObject({ by: 'ada' })
    const withdrawn = await adopt((store) => store.asks.withdraw(request.id, 'withdrawn'))
    expect(await withdrawn.answer).toBe('lost')
  })
})

describe('those who are asked', () => {
  it('in code are asked one after the other, each once', async () => {
    const order: string[] = []
    const leaves = (name: string) => () => void order.push(name)
    const owner = leaves('owner')
    const { desk } = newDesk({ approve: owner as never })
    const asking = desk.ask(request, never, { ...ways, approve: leaves('caller') as never })
    await expect(asking).rejects.toMatchObject(unavailable('nobody else can be asked'))
    expect(order).toEqual(['caller', 'owner'])
    await expect(desk.ask(request, never, { ...ways, approve: owner as never })).rejects.toThrow('nobody else')
    expect(order).toEqual(['caller', 'owner', 'owner'])
  })

  it('in code are not asked any more when the call is over', async () => {
    let leave = (_: undefined) => {}
    let isOwnerAsked = false
    const { desk, clock } = newDesk({
      approve: () => {
        isOwnerAsked = true
        return { decision: 'allow' }
      },
    })
    const approve = () => new Promise<undefined>((resolve) => (leave = resolve)) as never
    const asking = expect(desk.ask(request, never, { ...ways, approve })).rejects.toThrow('Nobody answered')
    await clock.advance(1_000)
    await asking
    leave(undefined)
    await settled()
    expect(isOwnerAsked).toBe(false)
  })

  it.each([
    ['throws', () => Promise.reject(full), 'the approve callback failed'],
    ['answers nonsense', () => 'yes', 'the answer makes no sense'],
  ])('in code end the call when one %s', async (_, approve, why) => {
    const { desk } = newDesk({ approve: approve as never, waitsInStore: true })
    await expect(desk.ask(request, never, ways)).rejects.toMatchObject(unavailable(why))
  })

  it('by watching may fail where another process can answer', async () => {
    const { desk, store } = newDesk({ waitsInStore: true })
    desk.watch(() => {
      throw full
    })
    const asking = desk.ask(request, never, ways)
    await settled()
    expect(desk.list()).toHaveLength(1)
    await store.asks.answer(request.id, { reply: '{"decision":"allow"}', by: 'ada', via: 'cli', at: 0 })
    expect(await asking).toMatchObject({ by: 'ada' })
  })

  it('by watching alone are named when they fail, and so is the store', async () => {
    const { desk } = newDesk()
    const stop = desk.watch(() => {
      throw full
    })
    const failure = { ...unavailable('whoever watches failed'), cause: full }
    await expect(desk.ask(request, never, ways)).rejects.toMatchObject(failure)
    stop()
    const { desk: other, store } = newDesk({ waitsInStore: true })
    store.asks.file = () => Promise.reject(full)
    await expect(other.ask(request, never, ways)).rejects.toMatchObject({
      ...unavailable('the store failed'),
      cause: full,
    })
  })

  it('who refuse without a reason leave it to the agent to ask', async () => {
    const { desk } = newDesk({ approve: () => ({ decision: 'deny' }) })
    await expect(desk.ask(request, never, ways)).rejects.toMatchObject({
      code: 'APPROVAL_DENIED',
      message: 'The approver refused notes.save and gave no reason.',
      fix: { hint: 'Do not repeat the call; ask what to do instead.' },
      details: { approval: 'approval-1', reply: { decision: 'deny' } },
    })
  })

  it('are an approver who uses the library where they do not say', async () => {
    const { desk, stored } = newDesk({ approve: () => ({ decision: 'allow' }) })
    await desk.ask(request, never, ways)
    expect((await stored()).answer).toMatchObject({ reply: '{"decision":"allow"}', by: 'approver', via: 'library' })
  })

  it('answer only once while changed arguments are looked at', async () => {
    const { desk } = newDesk()
    desk.watch(() => {})
    const check = async () => void desk.reply(request.id, { decision: 'allow', by: 'bob' })
    const asking = desk.ask(request, never, { ...ways, check })
    expect(await desk.answer(request.id, { decision: 'deny', by: 'ada' })).toBe(false)
    expect(await asking).toMatchObject({ by: 'bob' })
  })
})

describe('a request that nobody waits for', () => {
  it('is shown, filed for the same call, and does not keep the process alive', async () => {
    const { desk, stored, background } = newDesk()
    const seen: string[] = []
    const stop = desk.watch(({ id }) => seen.push(id))
    await desk.leave(request, { ...ways, onAsked: () => seen.push('asked') })
    await desk.leave(request, ways)
    expect(seen).toEqual(['asked', request.id])
    expect(isLeftAsk(await stored())).toBe(true)
    expect(background).toEqual([true])
    stop()
    expect(desk.list()).toHaveLength(1)
    expect((await stored()).state).toBe('waiting')
  })

  it('is answered here, and the answer is for the same call, made again', async () => {
    const { desk, stored, clock } = newDesk()
    await desk.leave(request, ways)
    expect(await desk.answer(request.id, { decision: 'allow', by: 'ada' })).toBe(true)
    expect(await stored()).toMatchObject({ state: 'answered', used: false })
    expect([desk.list(), clock.waiting]).toEqual([[], 0])
    const ask = await desk.adopt(asked)
    expect(await desk.useAnswer(ask!, request)).toMatchObject({ by: 'ada' })
  })

  it('is answered by another process, and the answer is not used up', async () => {
    const { desk, store, stored, clock } = newDesk()
    await desk.leave(request, ways)
    await store.asks.answer(request.id, { reply: '{"decision":"allow"}', by: 'ada', via: 'cli', at: 0 })
    await settled()
    expect(await stored()).toMatchObject({ state: 'answered', used: false })
    expect([desk.list(), clock.waiting]).toEqual([[], 0])
  })

  it('stays on the list when it is adopted by a call that does not wait either', async () => {
    const { desk, clock } = newDesk()
    await desk.leave(request, ways)
    expect((await desk.adopt(asked, true))?.id).toBe(request.id)
    expect(desk.list()).toHaveLength(1)
    expect((await desk.adopt(asked))?.id).toBe(request.id)
    expect([desk.list(), clock.waiting]).toEqual([[], 0])
  })

  it('expires with its time', async () => {
    const { desk, stored, clock } = newDesk()
    await desk.leave(request, ways)
    await clock.advance(1_000)
    await desk.close()
    expect((await stored()).state).toBe('expired')
    expect(desk.list()).toEqual([])
  })

  it('stays in the store when the desk is closed', async () => {
    const { desk, stored, clock } = newDesk()
    await desk.leave(request, ways)
    await desk.close()
    expect((await stored()).state).toBe('waiting')
    expect([desk.list(), clock.waiting]).toEqual([[], 0])
  })

  it('fails where the store does, and is in the store alone when an answer cannot be stored', async () => {
    const { desk, store, clock } = newDesk()
    const file = store.asks.file
    store.asks.file = () => Promise.reject(full)
    const failure = { ...unavailable('the store failed'), cause: full }
    await expect(desk.leave(request, ways)).rejects.toMatchObject(failure)
    expect([desk.list(), clock.waiting]).toEqual([[], 0])
    store.asks.file = file
    await desk.leave(request, ways)
    const answer = store.asks.answer
    store.asks.answer = () => Promise.reject(full)
    const yes = { decision: 'allow' } as const
    await expect(desk.answer(request.id, yes)).rejects.toMatchObject({ code: 'RECORDS_UNAVAILABLE' })
    expect([desk.list(), clock.waiting]).toEqual([[], 0])
    store.asks.answer = answer
    expect(await desk.answer(request.id, yes)).toBe(true)
  })
})
