import { describe, expect, it } from 'vitest'
import { callerGone } from '../caller-gone.ts'
import type { HubOptions } from '../options.ts'
import type { ApprovalReply, ApprovalRequest } from '../result.ts'
import { createMemoryStore } from '../store/memory/create-memory-store.ts'
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
const ways = { hash: request.hash }
const asked = { hash: request.hash, caller: request.caller }
const yes = { decision: 'allow', by: 'ada' } as const
const full = new Error('disk full')
const hangs = () => new Promise<ApprovalReply>(() => {})
const settled = () => new Promise(setImmediate)
const unavailable = (why: string) => ({
  code: 'APPROVAL_UNAVAILABLE',
  message: `notes.save needs an approval and ${why}: it writes (ask write:fs)`,
})
const leftBehind = {
  ...unavailable('nobody has answered yet'),
  details: { approval: 'approval-1', waits: true },
  fix: {
    hint: 'approval-1 still waits for an answer. Repeat the same call: it continues to wait, or uses the answer.',
  },
}

/** A call that waits for an answer, its request in the store. */
async function waiting(
  options: { readonly approve?: HubOptions['approve']; waitsInStore?: boolean; outlives?: boolean } = {},
) {
  const clock = fakeClock()
  const store = createMemoryStore({ now: clock.now })
  const open = () =>
    new ApprovalDesk({ timeoutMs: 1000, waitsInStore: true, clock, board: new AskBoard(store, clock), ...options })
  const desk = open()
  const stopWatching = desk.watch(() => {})
  const caller = new AbortController()
  const answer = desk.ask(request, caller.signal, ways)
  answer.catch(() => {})
  await settled()
  const stored = async () => (await store.asks.find(request.id))!
  const goAway = () => caller.abort(callerGone('The connection is closed.'))
  return { clock, store, desk, open, stopWatching, caller, answer, stored, goAway }
}

describe('a caller that goes away', () => {
  it('leaves its request to the same call, made again', async () => {
    const { desk, answer, stored, goAway, clock } = await waiting()
    goAway()
    await expect(answer).rejects.toMatchObject(leftBehind)
    expect(desk.list()).toHaveLength(1)
    await settled()
    expect(isLeftAsk(await stored())).toBe(true)
    expect(await desk.answer(request.id, yes)).toBe(true)
    expect(await stored()).toMatchObject({ state: 'answered', used: false })
    expect([desk.list(), clock.waiting]).toEqual([[], 0])
  })

  it('finds its request also while the store is still told that it left', async () => {
    const { desk, store, goAway } = await waiting()
    const leave = store.asks.leave.bind(store.asks)
    store.asks.leave = async (id, owner) => {
      await settled()
      await leave(id, owner)
    }
    goAway()
    expect((await desk.adopt(asked))?.id).toBe(request.id)
  })

  it('finds nothing where the store could not be told', async () => {
    const { desk, store, goAway } = await waiting()
    store.asks.leave = () => Promise.reject(full)
    goAway()
    expect(await desk.adopt(asked)).toBeUndefined()
    await desk.close()
  })

  it('leaves what only code can answer', async () => {
    const { desk, answer, goAway, stopWatching } = await waiting({ approve: hangs, waitsInStore: false })
    stopWatching()
    goAway()
    await expect(answer).rejects.toMatchObject(leftBehind)
    expect(desk.list()).toHaveLength(1)
    await desk.close()
    expect(desk.list()).toEqual([])
  })

  it('has stopped its call when the answer is given already', async () => {
    const { desk, store, answer, goAway } = await waiting()
    store.asks.answer = hangs as never
    desk.reply(request.id, yes)
    goAway()
    await expect(answer).rejects.toMatchObject({ code: 'ABORTED' })
  })
})

describe('closing', () => {
  it('leaves what waits to the next hub where the store outlives this one', async () => {
    const { desk, answer, open, clock } = await waiting({ outlives: true })
    const next = open()
    expect(await next.adopt(asked)).toBeUndefined()
    await desk.close()
    await expect(answer).rejects.toMatchObject(leftBehind)
    expect([desk.list(), clock.waiting]).toEqual([[], 0])
    expect((await next.adopt(asked))?.id).toBe(request.id)
  })

  it('waits until the store has what is written', async () => {
    const { desk, store, answer, stored, stopWatching } = await waiting()
    stopWatching()
    const withdraw = store.asks.withdraw.bind(store.asks)
    let write = () => {}
    store.asks.withdraw = (id, state) =>
      new Promise((resolve) => {
        write = () => resolve(withdraw(id, state))
      })
    let isClosed = false
    const closing = desk.close().then(() => {
      isClosed = true
    })
    await expect(answer).rejects.toMatchObject(unavailable('the hub was closed'))
    await settled()
    expect(isClosed).toBe(false)
    write()
    await closing
    expect((await stored()).state).toBe('withdrawn')
    await expect(desk.ask({ ...request, id: 'approval-2' }, new AbortController().signal, ways)).rejects.toMatchObject(
      unavailable('nobody can be asked'),
    )
  })

  it('lets code answer that was asked before', async () => {
    let answerIt = (_: ApprovalReply) => {}
    const approve = () => new Promise<ApprovalReply>((resolve) => (answerIt = resolve))
    const { desk, answer } = await waiting({ approve })
    await desk.close()
    answerIt(yes)
    expect(await answer).toMatchObject(yes)
  })
})

describe('an answer', () => {
  it('is lost when another call takes it first', async () => {
    const { desk, store, answer, clock } = await waiting()
    await store.slots.lease(`ask:${request.id}`, { owner: 'call-2', now: clock.now(), until: clock.now() + 1 })
    expect(await desk.answer(request.id, yes)).toBe(true)
    expect(await answer).toBe('lost')
  })

  it('is lost when the request was withdrawn elsewhere', async () => {
    const { desk, store, answer, clock } = await waiting()
    await store.asks.withdraw(request.id, 'withdrawn')
    expect(await answer).toBe('lost')
    expect([desk.list(), clock.waiting]).toEqual([[], 0])
  })

  it('stays for the same call when the store fails before this one has taken it', async () => {
    const { desk, store, answer, stored } = await waiting()
    store.slots.lease = () => Promise.reject(full)
    expect(await desk.answer(request.id, yes)).toBe(true)
    await expect(answer).rejects.toMatchObject({ ...unavailable('the store failed'), cause: full })
    expect(await stored()).toMatchObject({ state: 'answered', used: false })
  })

  it('of another process ends the call when the store fails before it is taken', async () => {
    const { store, answer } = await waiting()
    store.slots.lease = () => Promise.reject(full)
    await store.asks.answer(request.id, { reply: '{"decision":"allow"}', by: 'ada', via: 'cli', at: 0 })
    await expect(answer).rejects.toBe(full)
  })

  it('that nobody waits to see stored ends the call when the store fails', async () => {
    const { desk, store, answer } = await waiting()
    store.asks.answer = () => Promise.reject(full)
    expect(desk.reply(request.id, yes)).toBe(true)
    await expect(answer).rejects.toMatchObject({
      ...unavailable('the store failed'),
      cause: { code: 'RECORDS_UNAVAILABLE', cause: full },
    })
    await desk.close()
  })

  it('that cannot be stored ends the call when the last watcher has left meanwhile', async () => {
    const { desk, store, answer, stopWatching } = await waiting({ waitsInStore: false })
    let fail = (_: Error) => {}
    store.asks.answer = () => new Promise((_, reject) => (fail = reject))
    const told = desk.answer(request.id, yes)
    await settled()
    stopWatching()
    fail(full)
    await expect(told).rejects.toMatchObject({ code: 'RECORDS_UNAVAILABLE' })
    await expect(answer).rejects.toMatchObject(unavailable('the store failed'))
  })

  it('that cannot be stored leaves nothing behind, whenever the caller stops', async () => {
    for (let ticks = 0; ticks < 12; ticks++) {
      const { desk, store, answer, caller, clock } = await waiting()
      store.asks.answer = () => Promise.reject(full)
      const told = desk.answer(request.id, yes).catch(() => {})
      for (let tick = 0; tick < ticks; tick++) await null
      caller.abort()
      await expect(answer).rejects.toMatchObject({ code: 'ABORTED' })
      await told
      await settled()
      expect([desk.list(), clock.waiting], `after ${ticks} ticks`).toEqual([[], 0])
    }
  })

  it('to a question is not one to an approval', async () => {
    const { desk, store } = await waiting()
    const names = { callId: 'c', run: 'r', tool: 'notes.save', request: '{}', owner: 'nobody', hash: 'h' }
    const times = { askedAt: Date.parse(request.askedAt), expiresAt: Date.parse(request.expiresAt) }
    const file = (id: string, kind: 'approval' | 'question') =>
      store.asks.file({ ...names, ...times, id, kind, caller: kind })
    await file('one', 'question')
    await file('other', 'approval')
    expect(await desk.adopt({ hash: 'h', caller: 'question' })).toBeUndefined()
    expect((await desk.adopt({ hash: 'h', caller: 'approval' }))?.id).toBe('other')
  })
})
