import { describe, expect, it } from 'vitest'
import { fakeClock } from '../testing/fake-clock.ts'
import { type Claim, defaultIdempotencyKey, Idempotency } from './idempotency.ts'

describe('Idempotency', () => {
  it('replays the result of a call that ended', () => {
    const keys = new Idempotency<string>({}, fakeClock())
    start(keys, 'k').finish('done')
    expect(keys.claim('k', 'args')).toEqual({ kind: 'replay', result: 'done' })
  })

  it('lets 1,000 calls at the same time execute once', async () => {
    const keys = new Idempotency<number>({}, fakeClock())
    let executed = 0
    const one = async (): Promise<number | undefined> => {
      const claim = keys.claim('k', 'args')
      if (claim.kind === 'join') return claim.result
      if (claim.kind === 'replay') return claim.result
      await new Promise(setImmediate)
      claim.finish(++executed)
      return executed
    }
    const results = await Promise.all(Array.from({ length: 1000 }, one))
    expect(new Set(results)).toEqual(new Set([1]))
  })

  it('forgets a call that was not executed, and tells those who waited to claim again', async () => {
    const keys = new Idempotency<string>({}, fakeClock())
    const claim = start(keys, 'k')
    const joined = keys.claim('k', 'args') as Extract<Claim<string>, { kind: 'join' }>
    claim.finish(undefined)
    expect(await joined.result).toBeUndefined()
    expect(keys.claim('k', 'args').kind).toBe('new')
  })

  it('refuses a key with other arguments, under way and afterwards', () => {
    const keys = new Idempotency<string>({}, fakeClock())
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
    const keys = new Idempotency<string>({}, fakeClock())
    const claim = start(keys, 'k')
    claim.finish('first')
    claim.finish('second')
    claim.finish(undefined)
    expect(keys.claim('k', 'args')).toEqual({ kind: 'replay', result: 'first' })
  })

  it('forgets after its time', async () => {
    const clock = fakeClock(0)
    const keys = new Idempotency<string>({ ttlMs: 1000 }, clock)
    start(keys, 'k').finish('done')
    await clock.advance(999)
    expect(keys.claim('k', 'args').kind).toBe('replay')
    await clock.advance(1)
    expect(keys.claim('k', 'args').kind).toBe('new')
  })

  it('drops the oldest ended calls when full, never those under way', () => {
    const keys = new Idempotency<string>({ maxEntries: 2 }, fakeClock())
    start(keys, 'running')
    for (const key of ['a', 'b', 'c']) start(keys, key).finish(key)
    expect(keys.claim('running', 'args').kind).toBe('join')
    expect(keys.claim('a', 'args').kind).toBe('new')
    expect(keys.claim('c', 'args').kind).toBe('replay')
  })

  it('keeps within its bytes', () => {
    const keys = new Idempotency<string>({ maxBytes: 20, bytesOf: (text) => text.length }, fakeClock())
    start(keys, 'a').finish('x'.repeat(12))
    start(keys, 'b').finish('y'.repeat(12))
    expect(keys.claim('a', 'args').kind).toBe('new')
    expect(keys.claim('b', 'args').kind).toBe('replay')
  })

  it('does not execute a call again whose result was too large to keep', async () => {
    const keys = new Idempotency<unknown>({ maxResultBytes: 10 }, fakeClock())
    const claim = start(keys, 'k')
    const joined = keys.claim('k', 'args') as Extract<Claim<string>, { kind: 'join' }>
    claim.finish('a text of more than ten characters')
    expect(await joined.result).toContain('a text')
    expect(() => keys.claim('k', 'args')).toThrow('too large to keep')
    start(keys, 'cycle').finish({ value: 1n })
    expect(() => keys.claim('cycle', 'args')).toThrow('too large to keep')
  })

  it('refuses keys without end', () => {
    const keys = new Idempotency<string>({}, fakeClock())
    for (const key of ['', 'x'.repeat(513)]) {
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

function start<R>(keys: Idempotency<R>, key: string): Extract<Claim<R>, { kind: 'new' }> {
  const claim = keys.claim(key, 'args')
  if (claim.kind !== 'new') throw new Error(`${key} is known: ${claim.kind}`)
  return claim
}
