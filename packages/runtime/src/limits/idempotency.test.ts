import { createMemoryStore } from '@tool-hub/library/stores'
import { describe, expect, it } from 'vitest'
import type { Clock } from '../../../core/src/context.ts'
import type { KeyStore } from '../../../core/src/store.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { type Claim, defaultIdempotencyKey, Idempotency, keyName } from './idempotency.ts'

describe('Idempotency', () => {
  it('replays the result of a call that ended', () => {
    const keys = keysOf<string>()
    start(keys, 'k').finish('done')
    expect(keys.claim('k', 'args')).toEqual({ kind: 'replay', result: 'done' })
  })

  it('lets 1,000 calls at the same time execute once', async () => {
    const keys = keysOf<number>()
    let executed = 0
    const one = async (): Promise<number | undefined> => {
      const claim = keys.claim('k', 'args')
      if (claim.kind === 'join') return claim.result
      if (claim.kind === 'replay') return claim.result
      await new Promise(setImmediate)
      claim.begin()
      claim.finish(++executed)
      return executed
    }
    const results = await Promise.all(Array.from({ length: 1000 }, one))
    expect(new Set(results)).toEqual(new Set([1]))
  })

  it('forgets a call that was not executed, and tells those who waited to claim again', async () => {
    const keys = keysOf<string>()
    const claim = start(keys, 'k')
    const joined = keys.claim('k', 'args') as Extract<Claim<string>, { kind: 'join' }>
    claim.finish(undefined)
    expect(await joined.result).toBeUndefined()
    expect(keys.claim('k', 'args').kind).toBe('new')
  })

  it('refuses a key with other arguments, under way and afterwards', () => {
    const keys = keysOf<string>()
    const claim = start(keys, 'k')
    const conflict = expect.objectContaining({
      code: 'CONFLICT',
      message: 'The idempotency key "k" was used with other arguments.',
    })
    expect(() => keys.claim('k', 'other')).toThrow(conflict)
    claim.finish('done')
    expect(() => keys.claim('k', 'other')).toThrow(conflict)
  })

  it('counts only the first end of a call', () => {
    const keys = keysOf<string>()
    const claim = start(keys, 'k')
    claim.finish('first')
    claim.finish('second')
    claim.finish(undefined)
    expect(keys.claim('k', 'args')).toEqual({ kind: 'replay', result: 'first' })
  })

  it('forgets after its time', async () => {
    const clock = fakeClock(0)
    const keys = keysOf<string>({ ttlMs: 1000, clock })
    start(keys, 'k').finish('done')
    await clock.advance(999)
    expect(keys.claim('k', 'args').kind).toBe('replay')
    await clock.advance(1)
    expect(keys.claim('k', 'args').kind).toBe('new')
  })

  it('does not execute a call again whose result was too large to keep', async () => {
    const keys = keysOf<unknown>({ maxResultChars: 10 })
    const claim = start(keys, 'k')
    const joined = keys.claim('k', 'args') as Extract<Claim<string>, { kind: 'join' }>
    claim.finish('a text of more than ten characters')
    expect(await joined.result).toContain('a text')
    expect(() => keys.claim('k', 'args')).toThrow('its result is not in the store')
    start(keys, 'cycle').finish({ value: 1n })
    expect(() => keys.claim('cycle', 'args')).toThrow('its result is not in the store')
  })

  it.each([
    ['keeps a result of exactly as many characters as it may have', 10],
    ['keeps a result of 1 MB', 1_048_576],
  ])('%s', (_, maxResultChars) => {
    const keys = maxResultChars === 10 ? keysOf<string>({ maxResultChars }) : keysOf<string>()
    const fits = 'x'.repeat(maxResultChars - '""'.length)
    start(keys, 'fits').finish(fits)
    expect(keys.claim('fits', 'args')).toEqual({ kind: 'replay', result: fits })
    start(keys, 'larger').finish(`${fits}x`)
    expect(() => keys.claim('larger', 'args')).toThrow('its result is not in the store')
  })

  it('knows a key for a day', async () => {
    const clock = fakeClock(0)
    const keys = keysOf<string>({ clock })
    start(keys, 'k').finish('done')
    await clock.advance(86_399_999)
    expect(keys.claim('k', 'args').kind).toBe('replay')
    await clock.advance(1)
    expect(keys.claim('k', 'args').kind).toBe('new')
  })

  it('names a key of up to 80 characters in full, and the beginning of a longer one', () => {
    const keys = keysOf<string>()
    for (const key of ['k'.repeat(80), 'k'.repeat(81)]) {
      start(keys, key).finish('done')
      const shown = key.length > 80 ? `"${key.slice(0, 80)}…"` : `"${key}"`
      expect(() => keys.claim(key, 'other')).toThrow(`The idempotency key ${shown} was used with other arguments.`)
    }
  })

  it.each([
    { principal: 'token:agent7', run: 'r' },
    { principal: undefined, run: 'r' },
  ])('names the key as its caller gave it, for %j', (scope) => {
    const keys = keysOf<string>()
    const name = keyName({ ...scope, tool: 'ops.work', key: 'A-work-15-71' })
    start(keys, name).finish('done')
    expect(() => keys.claim(name, 'other')).toThrow('The idempotency key "A-work-15-71" was used with other arguments.')
  })

  it('refuses keys without end', () => {
    const keys = keysOf<string>()
    expect(keys.claim('x'.repeat(1_000), 'args').kind).toBe('new')
    for (const key of ['', 'x'.repeat(1_001)]) {
      expect(() => keys.claim(key, 'args')).toThrow(expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID' }))
    }
  })
})

describe('defaultIdempotencyKey', () => {
  it('tells calls apart that differ in any part, and only those', () => {
    const call = { requestId: 'r', taskId: 't', tool: 'x', argsHash: 'h' }
    expect(defaultIdempotencyKey(call)).toBe(defaultIdempotencyKey({ ...call }))
    const others = [{ requestId: 'rt', taskId: '' }, { taskId: 'u' }, { tool: 'y' }, { argsHash: 'i' }]
    const keys = others.map((change) => defaultIdempotencyKey({ ...call, ...change }))
    expect(new Set([defaultIdempotencyKey(call), ...keys]).size).toBe(5)
  })
})

describe('one store under several processes', () => {
  it('replays what another hub has finished, and joins what it executes', async () => {
    const store = createMemoryStore().keys
    const clock = fakeClock()
    const [one, other] = [keysOf<string>({ store }), keysOf<string>({ store, clock })]
    const claim = start(one, 'k')
    const joined = other.claim('k', 'args') as Extract<Claim<string>, { kind: 'join' }>
    expect(joined.kind).toBe('join')
    claim.finish('done')
    await clock.advance(100)
    expect(await joined.result).toBe('done')
    expect(other.claim('k', 'args')).toEqual({ kind: 'replay', result: 'done' })
  })

  it('looks ten times a second whether another process has ended, and waits in between', async () => {
    const store = createMemoryStore().keys
    const clock = fakeClock()
    let looks = 0
    const counting = {
      look: (key: string) => {
        // Looking without a wait would never let the test go on.
        if (++looks > 10) throw new Error('looked without waiting')
        return store.look(key)
      },
    } as KeyStore
    const claim = start(keysOf<string>({ store }), 'k')
    const { result } = keysOf<string>({ store: counting, clock }).claim('k', 'args') as Extract<
      Claim<string>,
      { kind: 'join' }
    >
    await clock.advance(99)
    expect(looks).toBe(1)
    await clock.advance(1)
    expect(looks).toBe(2)
    claim.finish('done')
    await clock.advance(100)
    expect([await result, looks]).toEqual(['done', 3])
  })

  it('never executes again what a killed process was executing', async () => {
    const store = createMemoryStore().keys
    const owner = JSON.stringify({ pid: 2 ** 30, space: 'here' })
    const keys = keysOf<string>({ store })
    start(keys, 'probe').finish('x')
    const space = JSON.parse((await store.look('probe'))!.owner).space
    await store.claim('k', { argsHash: 'args', owner: owner.replace('here', space), now: 0 })
    const { result } = keys.claim('k', 'args') as Extract<Claim<string>, { kind: 'join' }>
    await expect(result).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('effect is unknown'),
    })
  })

  it('lets only one of two begin that claimed at the same time', () => {
    const store = createMemoryStore().keys
    const claims = [0, 1].map(
      () => keysOf<string>({ store }).claim('k', 'args') as Extract<Claim<string>, { kind: 'new' }>,
    )
    claims[0]!.begin()
    expect(() => claims[1]!.begin()).toThrow(expect.objectContaining({ code: 'CONFLICT', retryable: true }))
  })
})

interface InMemory<R> {
  claim(key: string, argsHash: string): Claim<R>
}

/** In memory nothing has to wait. */
function keysOf<R>({
  store = createMemoryStore().keys,
  clock = fakeClock(),
  ...options
}: {
  store?: KeyStore
  clock?: Clock
  ttlMs?: number
  maxResultChars?: number
} = {}): InMemory<R> {
  return new Idempotency<R>(store, clock, options) as unknown as InMemory<R>
}

function start<R>(keys: InMemory<R>, key: string): Extract<Claim<R>, { kind: 'new' }> {
  const claim = keys.claim(key, 'args')
  if (claim.kind !== 'new') throw new Error(`${key} is known: ${claim.kind}`)
  claim.begin()
  return claim
}
