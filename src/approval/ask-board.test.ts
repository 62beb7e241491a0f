import { describe, expect, it } from 'vitest'
import { currentProcess } from '../disk/process-identity.ts'
import { createMemoryStore } from '../store/memory/create-memory-store.ts'
import type { Store } from '../store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { AskBoard, isLeftAsk } from './ask-board.ts'

const NOW = Date.UTC(2026, 0, 1)
const DAY_MS = 86_400_000
const asked = { hash: 'h', caller: 'test' }
const yes = { reply: '{"decision":"allow"}', by: 'ada', via: 'cli' }
/** Events of the memory store come in a microtask. */
const told = () => new Promise(setImmediate)

function askOf(id: string, times: { askedAt?: number; expiresAt?: number } = {}) {
  const names = { id, kind: 'approval' as const, callId: 'call-1', run: 'run-1', tool: 'notes.save' }
  return { ...names, ...asked, request: '{}', askedAt: NOW, expiresAt: NOW + 1_000, ...times }
}

function newBoard(store?: Store) {
  const clock = fakeClock(NOW)
  const kept = store ?? createMemoryStore({ now: clock.now, maxEntries: 20_000 })
  return { clock, store: kept, board: new AskBoard(kept, clock) }
}

describe('the requests of others', () => {
  it('are adopted when nobody waits for them, and then belong to the board that did', async () => {
    const { board, store } = newBoard()
    await board.file(askOf('left'), { isLeft: true })
    const other = newBoard(store).board
    expect(await other.adopt({ ...asked, hash: 'another call' })).toBeUndefined()
    expect(await other.adopt({ ...asked, caller: 'another caller' })).toBeUndefined()
    expect((await other.adopt(asked, true))?.id).toBe('left')
    expect((await other.adopt(asked))?.id).toBe('left')
    expect(await board.adopt(asked)).toBeUndefined()
  })

  it('are left alone while their board waits for them, until it retires', async () => {
    const { board, store } = newBoard()
    board.retire()
    await board.file(askOf('waits'))
    const other = newBoard(store).board
    expect(await other.adopt(asked)).toBeUndefined()
    board.retire()
    expect((await other.adopt(asked))?.id).toBe('waits')
  })

  it.each([
    [999, 'left'],
    [1_000, undefined],
  ])('are adopted %i ms after they were filed for a second: %s', async (afterMs, id) => {
    const { board, clock } = newBoard()
    await board.file(askOf('left'), { isLeft: true })
    await clock.advance(afterMs)
    expect((await board.adopt(asked))?.id).toBe(id)
  })

  it.each([
    [DAY_MS - 1, 'left'],
    [DAY_MS, undefined],
  ])('are adopted %i ms after the answer: %s', async (afterMs, id) => {
    const { board, clock } = newBoard()
    await board.file(askOf('left'), { isLeft: true })
    await clock.advance(500)
    await board.answer('left', yes)
    await clock.advance(afterMs)
    expect((await board.adopt(asked))?.id).toBe(id)
  })

  it('are left when their owner is a process that cannot be', async () => {
    const { board, store } = newBoard()
    await board.file(askOf('left'), { isLeft: true })
    await board.file(askOf('waits'))
    const find = async (id: string) => (await store.asks.find(id))!
    const left = await find('left')
    expect(JSON.parse(left.owner)).toEqual({ pid: 2_147_483_647, space: currentProcess().space })
    expect(isLeftAsk(left)).toBe(true)
    expect(isLeftAsk(await find('waits'))).toBe(false)
    await board.leave('waits')
    expect(isLeftAsk(await find('waits'))).toBe(true)
  })
})

describe('filing', () => {
  it.each([
    ['a principal', 100, { isOfPrincipal: true }],
    ['a hub without principals', 10_000, undefined],
  ])('has room for so many of %s: %i', async (_, most, options) => {
    const { board, store } = newBoard()
    for (let index = 1; index < most; index++) await store.asks.file({ ...askOf(`ask-${index}`), owner: 'x' })
    await board.file(askOf('last'), options)
    await expect(board.file(askOf('one more'), options)).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    expect(await board.find('one more')).toBeUndefined()
  })

  it('lists what waits, oldest first, without what is over', async () => {
    const { board } = newBoard()
    await board.file(askOf('second', { askedAt: NOW + 2 }))
    await board.file(askOf('first', { askedAt: NOW + 1 }))
    await board.file(askOf('ends now', { expiresAt: NOW }))
    await board.file(askOf('ends next', { askedAt: NOW + 3, expiresAt: NOW + 1 }))
    await board.file(askOf('answered'))
    await board.answer('answered', yes)
    expect((await board.waiting()).map(({ id }) => id)).toEqual(['first', 'second', 'ends next'])
  })

  it('says of an answer which one holds, and when it came', async () => {
    const { board, clock } = newBoard()
    await board.file(askOf('ask-1'))
    await clock.advance(5)
    expect(await board.answer('ask-1', yes)).toMatchObject({ won: true, ask: { answer: { ...yes, at: NOW + 5 } } })
    expect(await board.answer('ask-1', { ...yes, by: 'bob' })).toMatchObject({
      won: false,
      ask: { answer: { by: 'ada' } },
    })
    expect(await board.answer('nowhere', yes)).toBeUndefined()
  })

  it('says that an answer was not stored, and can be given again', async () => {
    const { board, store } = newBoard()
    const cause = new Error('disk full')
    store.asks.answer = () => Promise.reject(cause)
    await expect(board.answer('ask-1', yes)).rejects.toMatchObject({
      code: 'RECORDS_UNAVAILABLE',
      message: 'The answer to ask-1 was not stored: disk full',
      fix: { hint: 'Nothing was decided, and ask-1 still waits: answer again when the store can be written.' },
      retryable: true,
      cause,
    })
  })
})

describe('claiming an answer', () => {
  it('gives it to one call, once, and only when there is one', async () => {
    const { board } = newBoard()
    await board.file(askOf('ask-1'))
    expect(await board.claim('ask-1', 'call-1')).toBe(false)
    await board.answer('ask-1', yes)
    expect(await Promise.all(['call-1', 'call-2'].map((call) => board.claim('ask-1', call)))).toEqual([true, false])
    expect(await board.claim('ask-1', 'call-1')).toBe(false)
    expect(await board.find('ask-1')).toMatchObject({ state: 'answered', used: true })
    expect(await board.claim('nowhere', 'call-1')).toBe(false)
  })

  it('holds it for a minute while it looks, and frees it also when the store fails', async () => {
    const { board, store } = newBoard()
    const lease = (now: number) => store.slots.lease('ask:ask-1', { owner: 'other', now, until: now + 1 })
    const seen: unknown[] = []
    store.asks.find = async () => {
      seen.push(await lease(NOW + 59_999), await lease(NOW + 60_000))
      await store.slots.release('ask:ask-1', 'other')
      await store.slots.lease('ask:ask-1', { owner: 'call-1', now: NOW, until: NOW + 60_000 })
      throw new Error('locked')
    }
    await expect(board.claim('ask-1', 'call-1')).rejects.toThrow('locked')
    expect(seen).toEqual([false, true])
    expect(await lease(NOW)).toBe(true)
    store.asks.find = () => undefined
    expect(await board.claim('ask-1', 'call-1')).toBe(false)
  })
})

describe('listening', () => {
  it('tells of the end of one request, and of no other', async () => {
    const { board } = newBoard()
    const heard: string[] = []
    for (const id of ['answered', 'withdrawn', 'waits', 'stopped']) {
      await board.file(askOf(id))
      const stop = board.listen(id, (ask) => heard.push(`${ask.id} ${ask.state}`))
      if (id === 'stopped') stop()
    }
    await board.leave('waits')
    await board.answer('answered', yes)
    await board.withdraw('withdrawn', 'expired')
    await board.answer('stopped', yes)
    await told()
    expect(heard.sort()).toEqual(['answered answered', 'withdrawn expired'])
  })

  it('is not misled by events of others, or by those that nobody understands', async () => {
    const { board, store } = newBoard()
    await board.file(askOf('ask-1'))
    await board.answer('ask-1', yes)
    await told()
    let heard = 0
    board.listen('ask-1', () => heard++)
    const events: [string, string, number][] = [
      ['call', '{"id":"ask-1"}', 0],
      ['ask', '{"id":"ask-2"}', 0],
      ['ask', '{"id":1}', 0],
      ['ask', 'no JSON', 0],
      ['ask', '{"id":"ask-1"}', 1],
    ]
    for (const [topic, body, times] of events) {
      await store.events.append({ topic, body, at: NOW })
      await told()
      expect(heard, `${topic} ${body}`).toBe(times)
    }
  })

  it('goes on after a request that could not be read for a moment', async () => {
    const { board, store } = newBoard()
    await board.file(askOf('ask-1'))
    let heard = 0
    board.listen('ask-1', () => heard++)
    const find = store.asks.find.bind(store.asks)
    store.asks.find = () => Promise.reject(new Error('locked'))
    await board.answer('ask-1', yes)
    await told()
    expect(heard).toBe(0)
    store.asks.find = find
    await store.events.append({ topic: 'ask', body: '{"id":"ask-1"}', at: NOW })
    await told()
    expect(heard).toBe(1)
  })

  it('watches the store once, and only while anybody listens', async () => {
    const { store } = newBoard()
    let watching = 0
    const watch = store.events.watch.bind(store.events)
    store.events.watch = (listener) => {
      const stop = watch(listener)
      watching++
      return () => {
        watching--
        stop()
      }
    }
    const { board } = newBoard(store)
    const stops = ['a', 'b'].map((id) => board.listen(id, () => {}))
    expect(watching).toBe(1)
    stops[0]!()
    expect(watching).toBe(1)
    stops[1]!()
    stops[1]!()
    expect(watching).toBe(0)
    board.listen('a', () => {})()
    expect(watching).toBe(0)
  })
})
