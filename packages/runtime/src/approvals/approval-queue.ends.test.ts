import { describe, expect, it } from 'vitest'
import {
  bound,
  full,
  hangs,
  leftBehind,
  never,
  newQueue,
  request,
  sameCall,
  settled,
  unavailable,
  waiting,
} from '../../../../test/support/approval-queue.ts'
import type { ApprovalReply } from '../../../core/src/events.ts'

const yes = { decision: 'allow', by: 'ada' } as const

describe('a caller that goes away', () => {
  it('leaves its request to the same call, made again', async () => {
    const { queue, answer, stored, goAway, clock } = await waiting({ isWatched: true })
    goAway()
    await expect(answer).rejects.toMatchObject(leftBehind)
    expect(queue.list()).toHaveLength(1)
    await settled()
    expect((await stored()).owner).toBeNull()
    expect(await queue.answer(request.id, yes)).toBe(true)
    expect(await stored()).toMatchObject({ state: 'answered', used: false })
    expect([queue.list(), clock.waiting]).toEqual([[], 0])
  })

  it('finds its request also while the store is still told that it left', async () => {
    const { queue, store, goAway } = await waiting({ isWatched: true })
    const leave = store.approvals.leave.bind(store.approvals)
    store.approvals.leave = async (id, owner) => {
      await settled()
      await leave(id, owner)
    }
    goAway()
    expect((await queue.adopt(sameCall))?.id).toBe(request.id)
  })

  it('finds nothing where the store could not be told', async () => {
    const { queue, store, goAway } = await waiting({ isWatched: true })
    store.approvals.leave = () => Promise.reject(full)
    goAway()
    expect(await queue.adopt(sameCall)).toBeUndefined()
    await queue.close()
  })

  it('leaves what only code can answer', async () => {
    const { queue, answer, goAway, stopWatching } = await waiting({
      isWatched: true,
      approve: hangs,
      waitsInStore: false,
    })
    stopWatching()
    goAway()
    await expect(answer).rejects.toMatchObject(leftBehind)
    expect(queue.list()).toHaveLength(1)
    await queue.close()
    expect(queue.list()).toEqual([])
  })

  it('has stopped its call when the answer is given already', async () => {
    const { queue, store, answer, goAway } = await waiting({ isWatched: true })
    store.approvals.answer = hangs as never
    queue.reply(request.id, yes)
    goAway()
    await expect(answer).rejects.toMatchObject({ code: 'ABORTED' })
  })
})

describe('closing', () => {
  it('leaves what waits to the next hub where the store outlives this one', async () => {
    const { queue, answer, open, clock } = await waiting({ isWatched: true, outlives: true })
    const next = open()
    expect(await next.adopt(sameCall)).toBeUndefined()
    await queue.close()
    await expect(answer).rejects.toMatchObject(leftBehind)
    expect([queue.list(), clock.waiting]).toEqual([[], 0])
    expect((await next.adopt(sameCall))?.id).toBe(request.id)
  })

  it('waits until the store has what is written', async () => {
    const { queue, store, answer, stored, stopWatching } = await waiting({ isWatched: true })
    stopWatching()
    const withdraw = store.approvals.withdraw.bind(store.approvals)
    let write = () => {}
    store.approvals.withdraw = (id, state) =>
      new Promise((resolve) => {
        write = () => resolve(withdraw(id, state))
      })
    let isClosed = false
    const closing = queue.close().then(() => {
      isClosed = true
    })
    await expect(answer).rejects.toMatchObject(unavailable('the hub was closed'))
    await settled()
    expect(isClosed).toBe(false)
    write()
    await closing
    expect((await stored()).state).toBe('withdrawn')
    await expect(queue.ask({ ...request, id: 'approval-2' }, never, bound)).rejects.toMatchObject({
      ...unavailable('nobody can be asked'),
      details: { approval: 'approval-2' },
    })
  })

  it('lets code answer that was asked before', async () => {
    let answerIt = (_: ApprovalReply) => {}
    const approve = () => new Promise<ApprovalReply>((resolve) => (answerIt = resolve))
    const { queue, answer } = await waiting({ isWatched: true, approve })
    await queue.close()
    answerIt(yes)
    expect(await answer).toMatchObject(yes)
  })
})

describe('an answer', () => {
  it('is lost when another call takes it first', async () => {
    const { queue, store, answer, clock } = await waiting({ isWatched: true })
    await store.slots.lease(`ask:${request.id}`, { owner: 'call-2', now: clock.now(), until: clock.now() + 1 })
    expect(await queue.answer(request.id, yes)).toBe(true)
    expect(await answer).toBe('lost')
  })

  it('is lost when the request was withdrawn elsewhere', async () => {
    const { queue, store, answer, clock } = await waiting({ isWatched: true })
    await store.approvals.withdraw(request.id, 'withdrawn')
    expect(await answer).toBe('lost')
    expect([queue.list(), clock.waiting]).toEqual([[], 0])
  })

  it('stays for the same call when the store fails before this one has taken it', async () => {
    const { queue, store, answer, stored } = await waiting({ isWatched: true })
    store.slots.lease = () => Promise.reject(full)
    expect(await queue.answer(request.id, yes)).toBe(true)
    await expect(answer).rejects.toMatchObject({ ...unavailable('the store failed'), cause: full })
    expect(await stored()).toMatchObject({ state: 'answered', used: false })
  })

  it('of another process ends the call when the store fails before it is taken', async () => {
    const { store, answer } = await waiting({ isWatched: true })
    store.slots.lease = () => Promise.reject(full)
    await store.approvals.answer(request.id, { reply: '{"decision":"allow"}', by: 'ada', via: 'cli', at: 0 })
    await expect(answer).rejects.toBe(full)
  })

  it('that nobody waits to see stored ends the call when the store fails', async () => {
    const { queue, store, answer } = await waiting({ isWatched: true })
    store.approvals.answer = () => Promise.reject(full)
    expect(queue.reply(request.id, yes)).toBe(true)
    await expect(answer).rejects.toMatchObject({
      ...unavailable('the store failed'),
      retryable: true,
      fix: { hint: expect.stringMatching(/^Call again when the store can be reached: /) },
      cause: { code: 'RECORDS_UNAVAILABLE', cause: full },
    })
    await queue.close()
  })

  it('that cannot be stored ends the call when the last watcher has left in the meantime', async () => {
    const { queue, store, answer, stopWatching } = await waiting({ isWatched: true, waitsInStore: false })
    let fail = (_: Error) => {}
    store.approvals.answer = () => new Promise((_, reject) => (fail = reject))
    const told = queue.answer(request.id, yes)
    await settled()
    stopWatching()
    fail(full)
    await expect(told).rejects.toMatchObject({ code: 'RECORDS_UNAVAILABLE' })
    await expect(answer).rejects.toMatchObject(unavailable('the store failed'))
  })

  it('that cannot be stored leaves nothing behind, whenever the caller stops', async () => {
    for (let ticks = 0; ticks < 12; ticks++) {
      const { queue, store, answer, caller, clock } = await waiting({ isWatched: true })
      store.approvals.answer = () => Promise.reject(full)
      const told = queue.answer(request.id, yes).catch(() => {})
      for (let tick = 0; tick < ticks; tick++) await null
      caller.abort()
      await expect(answer).rejects.toMatchObject({ code: 'ABORTED' })
      await told
      await settled()
      expect([queue.list(), clock.waiting], `after ${ticks} ticks`).toEqual([[], 0])
    }
  })

  it('to a question is not one to an approval', async () => {
    const { queue, store } = await waiting({ isWatched: true })
    const names = { callId: 'c', run: 'r', tool: 'notes.save', request: '{}', owner: 'nobody', hash: 'h' }
    const times = { askedAt: Date.parse(request.askedAt), expiresAt: Date.parse(request.expiresAt) }
    const file = (id: string, kind: 'approval' | 'question') =>
      store.approvals.file({ ...names, ...times, id, kind, caller: kind })
    await file('one', 'question')
    await file('other', 'approval')
    expect(await queue.adopt({ hash: 'h', caller: 'question' })).toBeUndefined()
    expect((await queue.adopt({ hash: 'h', caller: 'approval' }))?.id).toBe('other')
  })
})

describe('a request that nobody waits for', () => {
  it('is shown, filed for the same call, and does not keep the process alive', async () => {
    const { queue, stored, background } = newQueue()
    const seen: string[] = []
    const stop = queue.watch(({ id }) => seen.push(id))
    await queue.leave(request, { ...bound, onRequested: () => seen.push('asked') })
    await queue.leave(request, bound)
    expect(seen).toEqual(['asked', request.id])
    expect((await stored()).owner).toBeNull()
    expect(background).toEqual([true])
    stop()
    expect(queue.list()).toHaveLength(1)
    expect((await stored()).state).toBe('waiting')
  })

  it('is answered here, and the answer is for the same call, made again', async () => {
    const { queue, stored, clock } = newQueue()
    await queue.leave(request, bound)
    expect(await queue.answer(request.id, { decision: 'allow', by: 'ada' })).toBe(true)
    expect(await stored()).toMatchObject({ state: 'answered', used: false })
    expect([queue.list(), clock.waiting]).toEqual([[], 0])
    const ask = await queue.adopt(sameCall)
    expect(await queue.useAnswer(ask!, request)).toMatchObject({ by: 'ada' })
  })

  it('is answered by another process, and the answer is not used up', async () => {
    const { queue, store, stored, clock } = newQueue()
    await queue.leave(request, bound)
    await store.approvals.answer(request.id, { reply: '{"decision":"allow"}', by: 'ada', via: 'cli', at: 0 })
    await settled()
    expect(await stored()).toMatchObject({ state: 'answered', used: false })
    expect([queue.list(), clock.waiting]).toEqual([[], 0])
  })

  it('stays on the list when it is adopted by a call that does not wait either', async () => {
    const { queue, clock } = newQueue()
    await queue.leave(request, bound)
    expect((await queue.adopt(sameCall, true))?.id).toBe(request.id)
    expect(queue.list()).toHaveLength(1)
    expect((await queue.adopt(sameCall))?.id).toBe(request.id)
    expect([queue.list(), clock.waiting]).toEqual([[], 0])
  })

  it('expires with its time', async () => {
    const { queue, stored, clock } = newQueue()
    await queue.leave(request, bound)
    await clock.advance(1_000)
    await queue.close()
    expect((await stored()).state).toBe('expired')
    expect(queue.list()).toEqual([])
  })

  it('stays in the store when the queue is closed', async () => {
    const { queue, stored, clock } = newQueue()
    await queue.leave(request, bound)
    await queue.close()
    expect((await stored()).state).toBe('waiting')
    expect([queue.list(), clock.waiting]).toEqual([[], 0])
  })

  it('fails where the store does, and is in the store alone when an answer cannot be stored', async () => {
    const { queue, store, clock } = newQueue()
    const file = store.approvals.file
    store.approvals.file = () => Promise.reject(full)
    const failure = { ...unavailable('the store failed'), cause: full }
    await expect(queue.leave(request, bound)).rejects.toMatchObject(failure)
    expect([queue.list(), clock.waiting]).toEqual([[], 0])
    store.approvals.file = file
    await queue.leave(request, bound)
    const answer = store.approvals.answer
    store.approvals.answer = () => Promise.reject(full)
    const yes = { decision: 'allow' } as const
    await expect(queue.answer(request.id, yes)).rejects.toMatchObject({ code: 'RECORDS_UNAVAILABLE' })
    expect([queue.list(), clock.waiting]).toEqual([[], 0])
    store.approvals.answer = answer
    expect(await queue.answer(request.id, yes)).toBe(true)
  })
})
