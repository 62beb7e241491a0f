import type { Awaitable, Store, StoredEvent, StoreTests, SuiteRunner } from '@tool-hub/core'
import { featureSuites } from '@tool-hub/library/generated/suites'
import { newOwner } from '@tool-hub/sandbox/system'
import { approvalsSuite, SUITE_NOW } from './store-suite/approvals.ts'
import { callsSuite, headsSuite, userTextsSuite } from './store-suite/calls.ts'
import { documentsSuite } from './store-suite/documents.ts'
import { budgetsSuite, ratesSuite } from './store-suite/limits.ts'
import { tokensSuite } from './store-suite/tokens.ts'

const HASH = 'hash-of-the-arguments'

/** Who holds an idempotency key. */
function keysSuite({ name, store, describe, it, expect }: StoreTests): void {
  describe(`the keys of ${name}`, () => {
    const claim = (key: string, owner: string, now = 0) => store().keys.claim(key, { argsHash: HASH, owner, now })

    it('belong to the first who claims one; others see who has it', async () => {
      expect(await claim('k', 'a')).toBeUndefined()
      const held = { argsHash: HASH, state: 'running', owner: 'a' }
      expect(await claim('k', 'b')).toEqual(held)
      expect(await claim('k', 'a')).toEqual(held)
      expect(await store().keys.look('k')).toEqual(held)
      expect(await claim('other', 'b')).toBeUndefined()
    })

    it('keep what the owner finished until it expires, and then are free', async () => {
      await claim('k', 'a')
      await store().keys.finish('k', { owner: 'b', result: '"not mine"', expiresAt: 100 })
      await store().keys.finish('k', { owner: 'a', result: '{"x":1}', expiresAt: 100 })
      await store().keys.finish('k', { owner: 'a', result: '"late"', expiresAt: 900 })
      const finished = { argsHash: HASH, state: 'finished', owner: 'a', result: '{"x":1}', expiresAt: 100 }
      expect(await claim('k', 'b', 99)).toEqual(finished)
      expect(await store().keys.claim('k', { argsHash: 'new', owner: 'b', now: 100 })).toBeUndefined()
      expect(await store().keys.look('k')).toEqual({ argsHash: 'new', state: 'running', owner: 'b' })
    })

    it('can say that something happened without what it gave', async () => {
      await claim('k', 'a')
      await store().keys.finish('k', { owner: 'a', expiresAt: 100 })
      expect(await store().keys.look('k')).toEqual({ argsHash: HASH, state: 'finished', owner: 'a', expiresAt: 100 })
    })

    it('are released by their owner alone, and only while nothing was executed', async () => {
      await claim('k', 'a')
      await store().keys.release('k', 'b')
      expect(await claim('k', 'b')).toMatchObject({ owner: 'a' })
      await store().keys.release('k', 'a')
      expect(await store().keys.look('k')).toBeUndefined()
      expect(await claim('k', 'b')).toBeUndefined()
      await store().keys.finish('k', { owner: 'b', expiresAt: 100 })
      await store().keys.release('k', 'b')
      expect(await store().keys.look('k')).toMatchObject({ state: 'finished' })
    })

    it('are swept once they expired; one under way never is', async () => {
      for (const key of ['old', 'young', 'running']) await claim(key, 'a')
      await store().keys.finish('old', { owner: 'a', expiresAt: 100 })
      await store().keys.finish('young', { owner: 'a', expiresAt: 101 })
      await store().sweep(100)
      expect(await store().keys.look('old')).toBeUndefined()
      expect(await store().keys.look('young')).toBeDefined()
      expect(await store().keys.look('running')).toBeDefined()
    })

    it('are never mixed up: names of objects, wild cards, and what differs in one letter', async () => {
      const names = ['constructor', '__proto__', '%', '_', 'K', 'k', 'k ', "'; DROP TABLE keys; --", 'ä', '🙂']
      for (const key of names) expect(await claim(key, key)).toBeUndefined()
      for (const key of names) expect(await store().keys.look(key)).toMatchObject({ owner: key })
    })
  })
}

const OWNER = newOwner()

/** Jobs and slots. */
function jobsSuite({ name, store, describe, it, expect }: StoreTests): void {
  describe(`the jobs and slots of ${name}`, () => {
    const take = (now: number) => store().jobs.take({ kind: 'hook', owner: OWNER, now, leaseMs: 100 })

    it('give the job that is due first to one at a time, and again when the lease ran out', async () => {
      for (const [id, dueAt] of [
        ['late', 20],
        ['early', 10],
        ['future', 900],
      ] as const)
        await store().jobs.add({ id, kind: 'hook', body: '{}', dueAt })
      await store().jobs.add({ id: 'early', kind: 'hook', body: '"twice"', dueAt: 1 })
      await store().jobs.add({ id: 'cron', kind: 'schedule', body: '{}', dueAt: 0 })
      expect(await take(9)).toBeUndefined()
      expect(await take(30)).toEqual({ id: 'early', kind: 'hook', body: '{}', dueAt: 10, attempts: 1 })
      expect(await take(30)).toMatchObject({ id: 'late' })
      expect(await take(30)).toBeUndefined()
      await store().jobs.finish('late')
      expect(await take(129)).toBeUndefined()
      expect(await take(130)).toMatchObject({ id: 'early', attempts: 2 })
      expect((await store().jobs.list({ kind: 'hook' })).map(({ id }) => id)).toEqual(['early', 'future'])
      expect(await store().jobs.list({ kind: 'hook', limit: 1 })).toHaveLength(1)
    })

    it('put a job that failed off until later', async () => {
      await store().jobs.add({ id: 'j', kind: 'hook', body: '{}', dueAt: 0 })
      await take(0)
      await store().jobs.retry('j', 50)
      expect(await take(49)).toBeUndefined()
      expect(await take(50)).toMatchObject({ id: 'j', dueAt: 50, attempts: 2 })
      await store().jobs.retry('nothing', 50)
      await store().jobs.retry('j', 0)
      expect(await take(0)).toEqual({ id: 'j', kind: 'hook', body: '{}', dueAt: 0, attempts: 3 })
    })

    it('give jobs of one moment by their id', async () => {
      for (const id of ['b', 'c', 'a']) await store().jobs.add({ id, kind: 'hook', body: '', dueAt: 5 })
      expect((await store().jobs.list({ kind: 'hook' })).map(({ id }) => id)).toEqual(['a', 'b', 'c'])
      expect(await take(5)).toMatchObject({ id: 'a' })
    })

    it('lease a slot to one owner at a time', async () => {
      const lease = (owner: string, now: number) => store().slots.lease('minute', { owner, now, until: now + 100 })
      expect(await lease('a', 0)).toBe(true)
      expect(await lease('b', 99)).toBe(false)
      expect(await lease('a', 50)).toBe(true)
      expect(await lease('b', 149)).toBe(false)
      expect(await lease('b', 150)).toBe(true)
      await store().slots.release('minute', 'a')
      await store().sweep(200)
      expect(await lease('a', 200)).toBe(false)
      await store().slots.release('minute', 'b')
      expect(await lease('a', 200)).toBe(true)
    })
  })
}

const DAY = 86_400_000

/** What processes notify each other of. */
function eventsSuite({ name, store, describe, it, expect }: StoreTests): void {
  describe(`the events of ${name}`, () => {
    it('are delivered once and in order to all who watch, from the moment they watch', async () => {
      const received: StoredEvent[][] = [[], []]
      await store().events.append({ topic: 'before', body: '', at: 1 })
      const stop = store().events.watch((event) => received[0]?.push(event))
      const first = await store().events.append({ topic: 'policy', body: '{"a":1}', at: 2 })
      const stopSecond = store().events.watch((event) => received[1]?.push(event))
      const second = await store().events.append({ topic: 'policy', body: '{"a":2}', at: 3 })
      await Promise.resolve()
      stop()
      const third = await store().events.append({ topic: 'policy', body: '{"a":3}', at: 4 })
      await Promise.resolve()
      stopSecond()
      await store().events.append({ topic: 'after', body: '', at: 5 })
      await Promise.resolve()
      expect(received[0]).toEqual([
        { seq: first, topic: 'policy', body: '{"a":1}', at: 2 },
        { seq: second, topic: 'policy', body: '{"a":2}', at: 3 },
      ])
      expect(received[1]?.map(({ seq }) => seq)).toEqual([second, third])
      expect(first < second && second < third).toBe(true)
    })

    it('are delivered to others when one listener fails', async () => {
      const received: string[] = []
      store().events.watch(() => {
        throw new Error('deaf')
      })
      store().events.watch(({ topic }) => received.push(topic))
      await store().events.append({ topic: 'a', body: '', at: 1 })
      await Promise.resolve()
      expect(received).toEqual(['a'])
    })

    it('are read in full, and reach one who watches again', async () => {
      const received: StoredEvent[] = []
      const first = await store().events.append({ topic: 'a', body: 'x', at: 9 })
      store().events.watch(() => {})()
      await store().events.append({ topic: 'b', body: 'y', at: 8 })
      const stop = store().events.watch((event) => received.push(event))
      const last = await store().events.append({ topic: 'c', body: 'z', at: 7 })
      await Promise.resolve()
      stop()
      expect(last).toBe(first + 2)
      expect(received).toEqual([{ seq: last, topic: 'c', body: 'z', at: 7 }])
    })

    it('never reuse a number, also after all were swept', async () => {
      const seq = await store().events.append({ topic: 'a', body: '', at: 1 })
      await store().sweep(2 * DAY)
      expect(await store().events.append({ topic: 'b', body: '', at: 1 })).toBeGreaterThan(seq)
    })
  })
}

const PARTS = [
  keysSuite,
  budgetsSuite,
  ratesSuite,
  approvalsSuite,
  tokensSuite,
  jobsSuite,
  callsSuite,
  headsSuite,
  userTextsSuite,
  eventsSuite,
  documentsSuite,
  ...featureSuites,
]

/**
 * Defines the tests that every store must pass, whatever it is built on. `open` is called before each test and returns a
 * new and empty store, which uses the clock `now`; the suite closes it. It imports no test runner: pass the functions of
 * yours.
 * @example
 * import * as vitest from 'vitest'
 * storeSuite('my store', ({ now }) => createMemoryStore({ now }), vitest)
 */
export function storeSuite(
  name: string,
  open: (options: { readonly now: () => number }) => Awaitable<Store>,
  { describe, it, expect }: SuiteRunner,
): void {
  let current: Store | undefined
  const store = () => current!
  const withStore = (title: string, test: () => Awaitable<void>) =>
    it(title, async () => {
      const opened = await open({ now: () => SUITE_NOW })
      current = opened
      try {
        await test()
      } finally {
        await opened.close()
      }
    })
  for (const part of PARTS) part({ name, store, describe, it: withStore, expect })

  withStore(`${name} says that it works, as often as it is asked`, async () => {
    await store().check()
    await store().check()
  })
}
