import { getEventListeners } from 'node:events'
import { ToolError } from '@tool-hub/core/errors'
import { describe, expect, it } from 'vitest'
import {
  bound,
  full,
  hangs,
  never,
  newQueue,
  request,
  sameCall,
  settled,
  storedYes,
  unavailable,
  waiting,
} from '../../../../test/support/approval-queue.ts'
import type { ApprovalReply, ApprovalRequest } from '../../../core/src/events.ts'
import type { Store } from '../../../core/src/store.ts'

describe('asking', () => {
  it('fails immediately when nobody can be asked', async () => {
    const { queue, clock } = newQueue()
    await expect(queue.ask(request, never, bound)).rejects.toMatchObject({ code: 'APPROVAL_UNAVAILABLE' })
    expect(clock.waiting).toBe(0)
  })

  it('gives the answer of the owner’s callback', async () => {
    const { queue, clock } = newQueue({ approve: async () => ({ decision: 'allow', by: 'ada' }) })
    expect(await queue.ask(request, never, bound)).toEqual({ decision: 'allow', by: 'ada' })
    expect(queue.list()).toEqual([])
    expect(clock.waiting).toBe(0)
  })

  it('carries the reason of a no, so that it reaches the model', async () => {
    const reply: ApprovalReply = {
      decision: 'deny',
      reason: 'write to drafts/ instead',
      by: 'ada',
      remember: 'session',
    }
    const { queue } = newQueue({ approve: () => reply })
    await expect(queue.ask(request, never, bound)).rejects.toMatchObject({
      code: 'APPROVAL_DENIED',
      message: 'ada refused notes.save: write to drafts/ instead.',
      details: { reply },
    })
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('boom')
      },
    ],
    ['rejects', () => Promise.reject(new Error('boom'))],
    ['answers null', () => null],
    ['answers yes', () => 'yes'],
    ['answers true', () => true],
    ['answers too much', () => ({ decision: 'allow', forEverybody: true })],
  ])('takes a callback that %s for a no', async (_, approve) => {
    const { queue } = newQueue({ approve: approve as never })
    const error = await queue.ask(request, never, bound).catch((error: unknown) => error)
    expect(error).toMatchObject({ code: 'APPROVAL_UNAVAILABLE', cause: expect.any(Error) })
  })

  it('leaves the answer to watchers when the callback returns nothing, and to nobody else', async () => {
    const { queue } = newQueue({ approve: (() => undefined) as never })
    await expect(queue.ask(request, never, bound)).rejects.toMatchObject({ code: 'APPROVAL_UNAVAILABLE' })
    const stop = queue.watch(({ id }) => queueMicrotask(() => queue.reply(id, { decision: 'allow', by: 'watcher' })))
    expect(await queue.ask(request, never, bound)).toMatchObject({ by: 'watcher' })
    stop()
    expect(
      await queue.ask(request, never, { ...bound, responders: [() => ({ decision: 'allow', by: 'caller' })] }),
    ).toMatchObject({ by: 'caller' })
  })

  it('ends the wait for a callback that hangs, and ignores its late answer', async () => {
    let answer: (reply: ApprovalReply) => void = () => {}
    const { queue, clock } = newQueue({ approve: () => new Promise((resolve) => (answer = resolve)) })
    const asking = expect(queue.ask(request, never, bound)).rejects.toMatchObject({ code: 'APPROVAL_TIMEOUT' })
    await clock.advance(1000)
    await asking
    answer({ decision: 'allow' })
    expect(queue.reply(request.id, { decision: 'allow' })).toBe(false)
  })

  it('stops when the caller stops, before and while it waits', async () => {
    const { queue, clock } = newQueue({ approve: hangs })
    await expect(queue.ask(request, AbortSignal.abort(), bound)).rejects.toMatchObject({ code: 'ABORTED' })
    const stopper = new AbortController()
    const asking = queue.ask(request, stopper.signal, bound)
    stopper.abort()
    await expect(asking).rejects.toMatchObject({ code: 'ABORTED' })
    expect(queue.list()).toEqual([])
    expect(clock.waiting).toBe(0)
  })

  it('shows a copy that nobody can change', async () => {
    let shown: ApprovalRequest | undefined
    const mine = structuredClone(request)
    const { queue } = newQueue({
      approve: (request) => {
        shown = request
        expect(() => Object.assign(request.input as object, { path: 'evil' })).toThrow(TypeError)
        return { decision: 'allow' }
      },
    })
    await queue.ask(mine, never, bound)
    expect(shown).toEqual(request)
    expect(mine).toEqual(request)
  })
})

describe('watching', () => {
  it('tells watchers, takes the first answer and no second', async () => {
    const { queue } = newQueue()
    const seen: string[] = []
    queue.watch(({ id }) => seen.push(id))
    const asking = queue.ask(request, never, bound)
    await new Promise(setImmediate)
    expect(seen).toEqual(['approval-1'])
    expect(queue.list()).toEqual([request])
    expect(queue.reply(request.id, { decision: 'allow', by: 'ada' })).toBe(true)
    expect(queue.reply(request.id, { decision: 'deny' })).toBe(false)
    expect(await asking).toEqual({ decision: 'allow', by: 'ada' })
    expect(queue.reply('unknown', { decision: 'allow' })).toBe(false)
  })

  it('refuses a reply that makes no sense and continues to wait', async () => {
    const { queue } = newQueue()
    queue.watch(() => {})
    const asking = queue.ask(request, never, bound)
    expect(() => queue.reply(request.id, { decision: 'maybe' } as never)).toThrow('This is not an answer')
    queue.reply(request.id, { decision: 'allow' })
    expect(await asking).toMatchObject({ decision: 'allow' })
  })

  it('fails what waits when the last watcher leaves, not before', async () => {
    const { queue } = newQueue()
    const leave = [queue.watch(() => {}), queue.watch(() => {})]
    const asking = [request, { ...request, id: 'approval-2' }].map((each) => queue.ask(each, never, bound))
    leave[0]?.()
    leave[0]?.()
    expect(queue.list()).toHaveLength(2)
    leave[1]?.()
    for (const each of asking) await expect(each).rejects.toMatchObject({ code: 'APPROVAL_UNAVAILABLE' })
  })

  it('continues to wait for the callback when the last watcher leaves', async () => {
    const { queue, clock } = newQueue({ approve: hangs })
    const asking = expect(queue.ask(request, never, bound)).rejects.toMatchObject({ code: 'APPROVAL_TIMEOUT' })
    queue.watch(() => {})()
    await clock.advance(1000)
    await asking
  })

  it('fails immediately when the only watcher cannot listen', async () => {
    const { queue } = newQueue()
    const cause = new Error('screen is gone')
    queue.watch(() => {
      throw cause
    })
    await expect(queue.ask(request, never, bound)).rejects.toMatchObject({ code: 'APPROVAL_UNAVAILABLE', cause })
  })

  it('does not mind a watcher that cannot listen while another can', async () => {
    const { queue } = newQueue()
    queue.watch(() => {
      throw new Error('screen is gone')
    })
    queue.watch(({ id }) => queue.reply(id, { decision: 'allow' }))
    expect(await queue.ask(request, never, bound)).toMatchObject({ decision: 'allow' })
  })

  it('refuses a second request with the id of one that waits', async () => {
    const { queue } = newQueue()
    queue.watch(() => {})
    const asking = queue.ask(request, never, bound)
    await expect(queue.ask(request, never, bound)).rejects.toMatchObject({ code: 'CONFLICT' })
    queue.reply(request.id, { decision: 'allow' })
    await asking
  })

  it('keeps 1,000 waiting requests apart', async () => {
    const { queue } = newQueue()
    queue.watch(() => {})
    const asking = Array.from({ length: 1000 }, (_, i) =>
      queue.ask({ ...request, id: `approval-${i}` }, new AbortController().signal, bound),
    )
    for (const { id } of queue.list()) queue.reply(id, { decision: 'allow', by: id })
    const replies = await Promise.all(asking)
    expect(replies.every((reply, i) => reply !== 'lost' && reply.by === `approval-${i}`)).toBe(true)
  })
})

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
    expect(owner).toEqual(expect.any(String))
  })

  it('says that it was made, also where nobody can be asked', async () => {
    let times = 0
    const onRequested = () => times++
    const { queue } = newQueue()
    await expect(queue.ask(request, never, { ...bound, onRequested })).rejects.toMatchObject(
      unavailable('nobody can be asked'),
    )
    expect(times).toBe(1)
    queue.watch(({ id }) => queue.reply(id, { decision: 'allow' }))
    await queue.ask(request, never, { ...bound, onRequested })
    expect(times).toBe(2)
  })

  it('is shown to nobody when the call was stopped before', async () => {
    const { queue } = newQueue({ approve: hangs })
    const seen: string[] = []
    queue.watch(({ id }) => seen.push(id))
    const stopper = new AbortController()
    const asking = queue.ask(request, stopper.signal, { ...bound, onRequested: () => seen.push('asked') })
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
    const { queue, answer, caller } = await waiting()
    expect(getEventListeners(caller.signal, 'abort')).toHaveLength(1)
    queue.reply(request.id, { decision: 'allow' })
    await answer
    expect(getEventListeners(caller.signal, 'abort')).toEqual([])
  })

  it('is over when it comes too late, and keeps the process alive while a call waits for it', async () => {
    const { queue, clock, background } = newQueue({ waitsInStore: true })
    const late = { ...request, expiresAt: '2025-12-31T23:59:59.000Z' }
    const asking = expect(queue.ask(late, never, bound)).rejects.toMatchObject({
      code: 'APPROVAL_TIMEOUT',
      message: 'Nobody answered for notes.save within -1000 ms.',
      details: { approval: 'approval-1', timeoutMs: -1000 },
    })
    await clock.advance(0)
    await asking
    expect(background).toEqual([false])
  })

  it('of a principal with too many of them is refused, even if somebody could answer', async () => {
    let calls = 0
    const approve = () => {
      calls++
      return { decision: 'allow' } as const
    }
    const mine = { ...request, principal: 'token:ci' }
    const { queue, store } = newQueue({ approve })
    const facts = { kind: 'approval', callId: 'c', run: 'r', tool: 't', hash: 'h', request: '{}', owner: 'x' } as const
    const times = { askedAt: Date.parse(request.askedAt), expiresAt: Date.parse(request.expiresAt) }
    for (let index = 0; index < 100; index++)
      await store.approvals.file({ ...facts, ...times, caller: 'token:ci', id: `other-${index}` })
    const onRequested = () => calls++
    await expect(queue.ask(mine, never, { ...bound, onRequested })).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    await expect(queue.leave(mine, bound)).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    await settled()
    expect(calls).toBe(0)
    expect(queue.list()).toEqual([])
  })

  it('is answered by code although the store refuses it for another reason', async () => {
    const { queue, store } = newQueue({ approve: () => ({ decision: 'allow', by: 'ada' }) })
    store.approvals.file = () => Promise.reject(new ToolError('CONFLICT', 'It is filed already.'))
    expect(await queue.ask(request, never, bound)).toMatchObject({ by: 'ada' })
  })

  it('is adopted as it is in the store: it waits, has an answer, or is gone', async () => {
    const adopt = async (change: (store: Store) => unknown) => {
      const { queue, store } = newQueue({ waitsInStore: true })
      await queue.leave(request, bound)
      expect((await queue.adopt(sameCall))?.id).toBe(request.id)
      await change(store)
      const answer = queue.ask(request, never, { ...bound, isAdopted: true })
      answer.catch(() => {})
      await settled()
      return { queue, store, answer }
    }
    const waits = await adopt(() => {})
    await waits.store.approvals.answer(request.id, storedYes('ada'))
    expect(await waits.answer).toMatchObject({ by: 'ada' })
    const answered = await adopt((store) => store.approvals.answer(request.id, storedYes('ada')))
    expect(await answered.answer).toMatchObject({ by: 'ada' })
    const withdrawn = await adopt((store) => store.approvals.withdraw(request.id, 'withdrawn'))
    expect(await withdrawn.answer).toBe('lost')
  })
})

describe('those who are asked', () => {
  it('in code are asked one after the other, each once', async () => {
    const order: string[] = []
    const leaves = (name: string) => () => void order.push(name)
    const owner = leaves('owner')
    const { queue } = newQueue({ approve: owner as never })
    const asking = queue.ask(request, never, { ...bound, responders: [leaves('caller')] })
    await expect(asking).rejects.toMatchObject(unavailable('nobody else can be asked'))
    expect(order).toEqual(['caller', 'owner'])
    await expect(queue.ask(request, never, { ...bound, responders: [owner] })).rejects.toThrow('nobody else')
    expect(order).toEqual(['caller', 'owner', 'owner'])
  })

  it('in code are no longer asked when the call is over', async () => {
    let leave = (_: undefined) => {}
    let isOwnerAsked = false
    const { queue, clock } = newQueue({
      approve: () => {
        isOwnerAsked = true
        return { decision: 'allow' }
      },
    })
    const approve = () => new Promise<undefined>((resolve) => (leave = resolve)) as never
    const asking = expect(queue.ask(request, never, { ...bound, responders: [approve] })).rejects.toThrow(
      'Nobody answered',
    )
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
    const { queue } = newQueue({ approve: approve as never, waitsInStore: true })
    await expect(queue.ask(request, never, bound)).rejects.toMatchObject(unavailable(why))
  })

  it('by watching may fail where another process can answer', async () => {
    const { queue, store } = newQueue({ waitsInStore: true })
    queue.watch(() => {
      throw full
    })
    const asking = queue.ask(request, never, bound)
    await settled()
    expect(queue.list()).toHaveLength(1)
    await store.approvals.answer(request.id, { reply: '{"decision":"allow"}', by: 'ada', via: 'cli', at: 0 })
    expect(await asking).toMatchObject({ by: 'ada' })
  })

  it('by watching alone are named when they fail, and so is the store', async () => {
    const { queue } = newQueue()
    const stop = queue.watch(() => {
      throw full
    })
    const failure = { ...unavailable('every watcher failed'), cause: full }
    await expect(queue.ask(request, never, bound)).rejects.toMatchObject(failure)
    stop()
    const { queue: other, store } = newQueue({ waitsInStore: true })
    store.approvals.file = () => Promise.reject(full)
    await expect(other.ask(request, never, bound)).rejects.toMatchObject({
      ...unavailable('the store failed'),
      cause: full,
    })
  })

  it('who refuse without a reason leave it to the agent to ask', async () => {
    const { queue } = newQueue({ approve: () => ({ decision: 'deny' }) })
    await expect(queue.ask(request, never, bound)).rejects.toMatchObject({
      code: 'APPROVAL_DENIED',
      message: 'The approver refused notes.save and gave no reason.',
      fix: { hint: 'Do not repeat the call; ask what to do instead.' },
      details: { approval: 'approval-1', reply: { decision: 'deny' } },
    })
  })

  it('are an approver who uses the library where they do not say', async () => {
    const { queue, stored } = newQueue({ approve: () => ({ decision: 'allow' }) })
    await queue.ask(request, never, bound)
    expect((await stored()).answer).toMatchObject({ reply: '{"decision":"allow"}', by: 'approver', via: 'library' })
  })

  it('answer only once while changed arguments are looked at', async () => {
    const { queue } = newQueue()
    queue.watch(() => {})
    const check = async () => void queue.reply(request.id, { decision: 'allow', by: 'bob' })
    const asking = queue.ask(request, never, { ...bound, check })
    expect(await queue.answer(request.id, { decision: 'deny', by: 'ada' })).toBe(false)
    expect(await asking).toMatchObject({ by: 'bob' })
  })
})
