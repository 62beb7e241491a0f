import { ToolError } from '@tool-hub/core/errors'
import { createMemoryStore } from '@tool-hub/library/stores'
import { describe, expect, it } from 'vitest'
import { request as approval, storedYes } from '../../../../test/support/approval-queue.ts'
import type { Store } from '../../../core/src/store.ts'
import { currentProcess, newOwner, retireOwner } from '../../../sandbox/src/system/processes.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { adoptRequest, claimAnswer, listPending, RequestEnds, storeAnswer, storeRequest } from './stored-approvals.ts'

const NOW = Date.UTC(2026, 0, 1)
const DAY_MS = 86_400_000
const yes = storedYes('ada')
/** Events of the memory store come in a microtask. */
const notified = () => new Promise(setImmediate)

function newStore() {
  const clock = fakeClock(NOW)
  const store = createMemoryStore({ now: clock.now, maxEntries: 20_000 })
  return { clock, store, ...operationsOn(store, clock.now) }
}

function operationsOn(store: Store, now: () => number) {
  const mine = newOwner()
  return {
    file: (id: string, { owner = mine, askedAt = NOW, expiresAt = NOW + 1_000 }: Filed = {}) => {
      const times = { askedAt: new Date(askedAt).toISOString(), expiresAt: new Date(expiresAt).toISOString() }
      return storeRequest(store, { ...approval, ...times, id }, { kind: 'approval', hash: 'h', owner })
    },
    adopt: (changes: { hash?: string; caller?: string; owner?: string | null } = {}) =>
      adoptRequest(store, { hash: 'h', caller: 'test', owner: mine, now: now(), ...changes }),
    answer: (id: string, by = 'ada') => storeAnswer(store, id, { ...yes, by, at: now() }),
    claim: (id: string, callId: string) => claimAnswer(store, { id, callId, now: now() }),
    retire: () => retireOwner(mine),
  }
}

interface Filed {
  readonly owner?: string | null
  readonly askedAt?: number
  readonly expiresAt?: number
}

describe('the requests of others', () => {
  it('are adopted when no call waits for them, and then belong to the one that adopted them', async () => {
    const { file, adopt } = newStore()
    await file('left', { owner: null })
    expect(await adopt({ hash: 'another call' })).toBeUndefined()
    expect(await adopt({ caller: 'another caller' })).toBeUndefined()
    expect((await adopt({ owner: null }))?.id).toBe('left')
    expect((await adopt())?.id).toBe('left')
    expect(await adopt({ owner: newOwner() })).toBeUndefined()
  })

  it('are left alone while their owner waits for them, until it retires', async () => {
    const { file, adopt, retire } = newStore()
    await file('waits')
    expect(await adopt({ owner: newOwner() })).toBeUndefined()
    retire()
    expect((await adopt({ owner: newOwner() }))?.id).toBe('waits')
  })

  it.each([
    [999, 'left'],
    [1_000, undefined],
  ])('are adopted %i ms after they were stored for a second: %s', async (afterMs, id) => {
    const { file, adopt, clock } = newStore()
    await file('left', { owner: null })
    await clock.advance(afterMs)
    expect((await adopt())?.id).toBe(id)
  })

  it.each([
    [DAY_MS - 1, 'left'],
    [DAY_MS, undefined],
  ])('are adopted %i ms after the answer: %s', async (afterMs, id) => {
    const { file, adopt, answer, clock } = newStore()
    await file('left', { owner: null })
    await clock.advance(500)
    await answer('left')
    await clock.advance(afterMs)
    expect((await adopt())?.id).toBe(id)
  })

  it('have no owner when no call waits for them', async () => {
    const { file, store } = newStore()
    const owner = newOwner()
    await file('left', { owner: null })
    await file('waits', { owner })
    const find = async (id: string) => (await store.approvals.find(id))!
    expect((await find('left')).owner).toBeNull()
    expect((await find('waits')).owner).toBe(owner)
    await store.approvals.leave('waits', null)
    expect((await find('waits')).owner).toBeNull()
  })

  it('have no owner either where an earlier version wrote a process that cannot exist', async () => {
    const { store, file, adopt } = newStore()
    const owner = JSON.stringify({ pid: 2_147_483_647, space: currentProcess().space })
    await file('old', { owner })
    expect((await store.approvals.find('old'))!.owner).toBeNull()
    expect((await adopt())?.id).toBe('old')
  })
})

describe('storing', () => {
  it.each([
    ['a principal', 100, { principal: 'test' }],
    ['a hub without principals', 10_000, undefined],
  ])('has room for so many requests of %s: %i', async (_, most, changes) => {
    const { store } = newStore()
    const file = (id: string, more = {}) =>
      storeRequest(store, { ...approval, id, ...more }, { kind: 'approval', hash: 'h', owner: null })
    for (let index = 1; index < most; index++) await file(`request-${index}`)
    await file('last', changes)
    await expect(file('one more', changes)).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    expect(await store.approvals.find('one more')).toBeUndefined()
  })

  it('lists what waits, oldest first, without what is over', async () => {
    const { file, answer, store, clock } = newStore()
    await file('second', { askedAt: NOW + 2 })
    await file('first', { askedAt: NOW + 1 })
    await file('ends now', { expiresAt: NOW })
    await file('ends next', { askedAt: NOW + 3, expiresAt: NOW + 1 })
    await file('answered')
    await answer('answered')
    expect((await listPending(store, clock)).map(({ request }) => request.id)).toEqual(['first', 'second', 'ends next'])
  })

  it('says of an answer which one holds, and when it came', async () => {
    const { file, answer, clock } = newStore()
    await file('request-1')
    await clock.advance(5)
    expect(await answer('request-1')).toMatchObject({ won: true, ask: { answer: { ...yes, at: NOW + 5 } } })
    expect(await answer('request-1', 'bob')).toMatchObject({ won: false, ask: { answer: { by: 'ada' } } })
    expect(await answer('nowhere')).toBeUndefined()
  })

  it('says that an answer was not stored, and can be given again', async () => {
    const { answer, store } = newStore()
    const cause = new Error('disk full')
    store.approvals.answer = () => Promise.reject(cause)
    await expect(answer('request-1')).rejects.toMatchObject({
      code: 'RECORDS_UNAVAILABLE',
      message: 'The answer to request-1 was not stored: disk full',
      fix: { hint: 'Nothing was decided, and request-1 still waits: answer again when the store can be written.' },
      retryable: true,
      cause,
    })
    const options = { details: { outcome: 'unknown' } }
    store.approvals.answer = () => Promise.reject(new ToolError('RECORDS_UNAVAILABLE', 'cut', options))
    await expect(answer('request-1')).rejects.toMatchObject({
      fix: { hint: 'Whether request-1 was answered is not known: answer again, the first answer counts.' },
    })
  })
})

describe('claiming an answer', () => {
  it('gives it to one call, once, and only when there is one', async () => {
    const { file, answer, claim, store } = newStore()
    await file('request-1')
    expect(await claim('request-1', 'call-1')).toBe(false)
    await answer('request-1')
    expect(await Promise.all(['call-1', 'call-2'].map((call) => claim('request-1', call)))).toEqual([true, false])
    expect(await claim('request-1', 'call-1')).toBe(false)
    expect(await store.approvals.find('request-1')).toMatchObject({ state: 'answered', used: true })
    expect(await claim('nowhere', 'call-1')).toBe(false)
  })

  it('holds it for a minute while it looks, and releases it even if the store fails', async () => {
    const { claim, store } = newStore()
    const lease = (now: number) => store.slots.lease('ask:request-1', { owner: 'other', now, until: now + 1 })
    const seen: unknown[] = []
    store.approvals.find = async () => {
      seen.push(await lease(NOW + 59_999), await lease(NOW + 60_000))
      await store.slots.release('ask:request-1', 'other')
      await store.slots.lease('ask:request-1', { owner: 'call-1', now: NOW, until: NOW + 60_000 })
      throw new Error('locked')
    }
    await expect(claim('request-1', 'call-1')).rejects.toThrow('locked')
    expect(seen).toEqual([false, true])
    expect(await lease(NOW)).toBe(true)
    store.approvals.find = () => undefined
    expect(await claim('request-1', 'call-1')).toBe(false)
  })
})

describe('the end of a request', () => {
  it('is reported for that request, and for no other', async () => {
    const { file, answer, store } = newStore()
    const ends = new RequestEnds(store, fakeClock(NOW))
    const seen: string[] = []
    for (const id of ['answered', 'withdrawn', 'waits', 'stopped']) {
      await file(id)
      const stop = ends.on(id, (stored) => seen.push(`${stored.id} ${stored.state}`))
      if (id === 'stopped') stop()
    }
    await store.approvals.leave('waits', null)
    await answer('answered')
    await store.approvals.withdraw('withdrawn', 'expired')
    await answer('stopped')
    await notified()
    expect(seen.sort()).toEqual(['answered answered', 'withdrawn expired'])
  })

  it('is not confused with other events, or with events that cannot be read', async () => {
    const { file, answer, store } = newStore()
    await file('request-1')
    await answer('request-1')
    await notified()
    let times = 0
    new RequestEnds(store, fakeClock(NOW)).on('request-1', () => times++)
    const events: [string, string, number][] = [
      ['call', '{"id":"request-1"}', 0],
      ['ask', '{"id":"request-2"}', 0],
      ['ask', '{"id":1}', 0],
      ['ask', 'no JSON', 0],
      ['ask', '{"id":"request-1"}', 1],
    ]
    for (const [topic, body, expected] of events) {
      await store.events.append({ topic, body, at: NOW })
      await notified()
      expect(times, `${topic} ${body}`).toBe(expected)
    }
  })

  it('is reported after a request that could not be read for a moment', async () => {
    const { file, answer, store } = newStore()
    await file('request-1')
    let times = 0
    new RequestEnds(store, fakeClock(NOW)).on('request-1', () => times++)
    const find = store.approvals.find.bind(store.approvals)
    store.approvals.find = () => Promise.reject(new Error('locked'))
    await answer('request-1')
    await notified()
    expect(times).toBe(0)
    store.approvals.find = find
    await store.events.append({ topic: 'ask', body: '{"id":"request-1"}', at: NOW })
    await notified()
    expect(times).toBe(1)
  })

  it('is watched for once in the store, and only while there is a listener', async () => {
    const { store } = newStore()
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
    const ends = new RequestEnds(store, fakeClock(NOW))
    const stops = ['a', 'b'].map((id) => ends.on(id, () => {}))
    expect(watching).toBe(1)
    stops[0]!()
    expect(watching).toBe(1)
    stops[1]!()
    stops[1]!()
    expect(watching).toBe(0)
    ends.on('a', () => {})()
    expect(watching).toBe(0)
  })
})
