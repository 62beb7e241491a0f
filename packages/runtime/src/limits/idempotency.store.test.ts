import { createMemoryStore } from '@tool-hub/library/stores'
import { describe, expect, it } from 'vitest'
import type { KeyStore } from '../../../core/src/store.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { type Claim, Idempotency, keyName, recordedKeyName } from './idempotency.ts'

type Of<K extends Claim<string>['kind']> = Extract<Claim<string>, { kind: K }>

/** A memory store that notes what is written to it; `failing` names what fails. */
function newKeys({ store = createMemoryStore().keys, isAsync = false } = {}) {
  const written: string[] = []
  const failing = new Set<string>()
  const run = <T>(name: string, work: () => T): T => {
    if (name !== 'look') written.push(name)
    const outcome = () => {
      if (failing.has(name)) throw new Error(`${name} failed`)
      const answer = work()
      if (failing.has(`answer of ${name}`)) throw new Error(`answer of ${name} failed`)
      return answer
    }
    return isAsync ? (Promise.resolve().then(outcome) as T) : outcome()
  }
  const noting = {
    look: (key) => run('look', () => store.look(key)),
    claim: (key, claim) => run('claim', () => store.claim(key, claim)),
    finish: (key, end) => run('finish', () => store.finish(key, end)),
    release: (key, owner) => run('release', () => store.release(key, owner)),
  } as KeyStore
  const background: (boolean | undefined)[] = []
  const fake = fakeClock()
  const clock = {
    ...fake,
    after(ms: number, callback: () => void, options?: { readonly background?: boolean }) {
      background.push(options?.background)
      return fake.after(ms, callback)
    },
  }
  return { keys: new Idempotency<string>(noting, clock), store, written, failing, clock: fake, background }
}

describe('a key', () => {
  it('is written when its call begins, and once when it ends', async () => {
    const { keys, written } = newKeys()
    const claim = (await keys.claim('k', 'args')) as Of<'new'>
    expect(written).toEqual([])
    await claim.begin()
    await claim.finish('done')
    await claim.finish('again')
    await claim.finish(undefined)
    expect(written).toEqual(['claim', 'finish'])
  })

  it('is not written for a call that never began, and is free again', async () => {
    const { keys, written } = newKeys()
    const claim = (await keys.claim('k', 'args')) as Of<'new'>
    await claim.finish('refused')
    expect(written).toEqual([])
    expect((await keys.claim('k', 'args')).kind).toBe('new')
  })

  it('is released where nothing was executed', async () => {
    const { keys, written, store } = newKeys()
    const claim = (await keys.claim('k', 'args')) as Of<'new'>
    await claim.begin()
    await claim.finish(undefined)
    expect(written).toEqual(['claim', 'release'])
    expect(await store.look('k')).toBeUndefined()
  })

  it.each([false, true])('is free again when the store cannot be read (async: %s)', async (isAsync) => {
    const { keys, failing } = newKeys({ isAsync })
    failing.add('look')
    await expect((async () => keys.claim('k', 'args'))()).rejects.toThrow('look failed')
    failing.clear()
    expect((await keys.claim('k', 'args')).kind).toBe('new')
  })

  it.each([false, true])(
    'stays under way until its end is written, and that is tried again (async: %s)',
    async (isAsync) => {
      const { keys, failing, clock, store, background } = newKeys({ isAsync })
      const claim = (await keys.claim('k', 'args')) as Of<'new'>
      await claim.begin()
      failing.add('finish')
      await expect((async () => claim.finish('done'))()).rejects.toThrow('finish failed')
      const { result } = (await keys.claim('k', 'args')) as Of<'join'>
      await clock.advance(1_000)
      expect(await store.look('k')).toMatchObject({ state: 'running' })
      failing.clear()
      await clock.advance(1_000)
      expect(await result).toBe('done')
      expect(await keys.claim('k', 'args')).toEqual({ kind: 'replay', result: 'done' })
      expect(background).toEqual([true, true])
    },
  )

  it('is released later when the store was away as the call failed', async () => {
    const { keys, failing, clock, store } = newKeys({ isAsync: true })
    const claim = (await keys.claim('k', 'args')) as Of<'new'>
    await claim.begin()
    failing.add('release')
    await expect(claim.finish(undefined)).rejects.toThrow('release failed')
    failing.clear()
    await clock.advance(1_000)
    expect(await store.look('k')).toBeUndefined()
    expect((await keys.claim('k', 'args')).kind).toBe('new')
  })

  it('is released if the answer to its claim was lost', async () => {
    const { keys, failing, store } = newKeys({ isAsync: true })
    const claim = (await keys.claim('k', 'args')) as Of<'new'>
    failing.add('answer of claim')
    await expect(claim.begin()).rejects.toThrow('answer of claim failed')
    expect(await store.look('k')).toMatchObject({ state: 'running' })
    await claim.finish(undefined)
    expect(await store.look('k')).toBeUndefined()
  })

  it('gives those who wait what the store has kept for the run that holds it', async () => {
    const { keys } = newKeys({ isAsync: true })
    const claim = (await keys.claim('k', 'args')) as Of<'new'>
    await claim.begin()
    const { result } = (await keys.claim('k', 'args')) as Of<'join'>
    await claim.finish('done', { run: 'r', owner: 'p', epoch: 1 })
    expect(await result).toBeUndefined()
    expect((await keys.claim('k', 'args')).kind).toBe('replay')
  })

  it('that only the records knew is found by its recorded name', async () => {
    const { keys, store } = newKeys()
    await store.claim('recorded', { argsHash: 'args', owner: 'x', now: 0 })
    await store.finish('recorded', { owner: 'x', result: '"done"', expiresAt: Number.MAX_SAFE_INTEGER })
    expect(await keys.claim('k', 'args', 'recorded')).toEqual({ kind: 'replay', result: 'done' })
    expect((await keys.claim('k', 'args')).kind).toBe('new')
    expect((await keys.claim('other', 'args', 'unknown')).kind).toBe('new')
  })
})

describe('another process', () => {
  it('is waited for in the background, and its end means: claim again, where nothing was executed', async () => {
    const store = createMemoryStore().keys
    const [one, other] = [newKeys({ store }), newKeys({ store })]
    const claim = (await one.keys.claim('k', 'args')) as Of<'new'>
    await claim.begin()
    const { kind, result } = (await other.keys.claim('k', 'args')) as Of<'join'>
    expect(kind).toBe('join')
    await claim.finish(undefined)
    await other.clock.advance(100)
    expect(await result).toBeUndefined()
    expect(other.background).toEqual([true])
  })

  it.each([false, true])('that began first is named (async: %s)', async (isAsync) => {
    const store = createMemoryStore().keys
    const claims = [newKeys({ store }), newKeys({ store, isAsync })].map(({ keys }) => keys.claim('k', 'args'))
    const [first, second] = (await Promise.all(claims)) as [Of<'new'>, Of<'new'>]
    await first.begin()
    await expect((async () => second.begin())()).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'Another process executes the call with the idempotency key "k".',
      fix: { hint: 'Repeat the call with the same key: it gets the result of the other one.' },
      retryable: true,
    })
  })
})

describe('refusals', () => {
  it('say what to do about other arguments, a result that is gone, and a bad key', async () => {
    const { keys, store } = newKeys()
    await store.claim('k', { argsHash: 'args', owner: 'x', now: 0 })
    await store.finish('k', { owner: 'x', expiresAt: Number.MAX_SAFE_INTEGER })
    const refused = (key: string, argsHash: string) => expect((async () => keys.claim(key, argsHash))()).rejects
    await refused('k', 'other').toMatchObject({
      code: 'CONFLICT',
      fix: { hint: 'Use a new key for a new call; repeat a call with exactly the arguments it had.' },
    })
    await refused('k', 'args').toMatchObject({
      code: 'CONFLICT',
      message: 'The call with the idempotency key "k" was executed, but its result is not in the store.',
      fix: { hint: 'Read the result in the records of the run; use another key only to execute the call once more.' },
    })
    await refused('', 'args').toMatchObject({ message: 'An idempotency key has 1 to 1000 characters, not 0.' })
  })
})

describe('the name of a key', () => {
  it('has its principal or else its run, its tool, and the key or its hash', () => {
    const call = { principal: undefined, run: 'r1', tool: 'notes.save' }
    expect(keyName({ ...call, key: 'k' })).toBe('["run","r1","notes.save","k"]')
    expect(keyName({ ...call, principal: 'token:ci', key: 'k' })).toBe('["principal","token:ci","notes.save","k"]')
    expect(recordedKeyName({ ...call, keyHash: 'h' })).toBe('["run","r1","notes.save",{"sha256":"h"}]')
  })
})
