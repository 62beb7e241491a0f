import type { StoreTests } from './suite-runner.ts'

const HASH = 'hash-of-the-arguments'

/** Who holds an idempotency key. */
export function keysSuite({ name, store, describe, it, expect }: StoreTests): void {
  describe(`the keys of ${name}`, () => {
    const claim = (key: string, owner: string, now = 0) => store().keys.claim(key, { argsHash: HASH, owner, now })

    it('belong to the first who claims one; others are told who has it', async () => {
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
