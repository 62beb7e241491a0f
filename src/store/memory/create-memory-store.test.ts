import { describe, expect, it } from 'vitest'
import { storeSuite } from '../store-suite.ts'
import { SUITE_NOW } from '../suite/asks-suite.ts'
import { createMemoryStore } from './create-memory-store.ts'

storeSuite('a store in memory', () => createMemoryStore({ now: () => SUITE_NOW }))

describe('createMemoryStore', () => {
  it('answers at once, without a promise', () => {
    const store = createMemoryStore()
    expect(store.keys.claim('k', { argsHash: 'h', owner: 'o', now: 0 })).toBeUndefined()
    expect(store.keys.look('k')).toEqual({ argsHash: 'h', state: 'running', owner: 'o' })
    expect(store.budgets.reserve([{ account: 'a', limits: { calls: 1 } }], 0)).toMatchObject({ ok: true })
    expect(store.rates.take([{ bucket: 'b', perSecond: 1, burst: 1 }], 0)).toEqual({ ok: true })
    expect(store.grants.list()).toEqual([])
  })
})

describe('the bounds of a store in memory', () => {
  const claimAndFinish = (store: ReturnType<typeof createMemoryStore>, key: string, result: string) => {
    store.keys.claim(key, { argsHash: 'h', owner: 'o', now: 0 })
    store.keys.finish(key, { owner: 'o', result, expiresAt: 9 })
  }

  it('forget the finished keys that were used longest ago, never one under way', () => {
    const store = createMemoryStore({ maxKeys: 2 })
    store.keys.claim('running', { argsHash: 'h', owner: 'o', now: 0 })
    for (const key of ['a', 'b', 'c']) claimAndFinish(store, key, '1')
    expect(['a', 'b', 'c', 'running'].map((key) => store.keys.look(key) !== undefined)).toEqual([
      false,
      true,
      true,
      true,
    ])
  })

  it('keep a key whose result is larger than all room, without it', () => {
    const store = createMemoryStore({ maxResultChars: 10 })
    claimAndFinish(store, 'large', 'x'.repeat(11))
    expect(store.keys.look('large')).toEqual({ argsHash: 'h', state: 'finished', owner: 'o', expiresAt: 9 })
    claimAndFinish(store, 'fits', 'x'.repeat(9))
    claimAndFinish(store, 'next', 'x'.repeat(9))
    expect(store.keys.look('fits')).toBeUndefined()
  })

  it('let asks that are over make room, and refuse one more when all wait', () => {
    const store = createMemoryStore({ maxEntries: 2 })
    const file = (id: string) =>
      store.asks.file({
        id,
        kind: 'approval',
        callId: 'c',
        run: 'r',
        tool: 't',
        caller: 'c',
        hash: 'h',
        request: '{}',
        askedAt: 0,
        expiresAt: 9,
        owner: 'o',
      })
    file('a')
    file('b')
    store.asks.withdraw('b', 'expired')
    file('c')
    expect(store.asks.find('b')).toBeUndefined()
    expect(() => file('d')).toThrow(expect.objectContaining({ code: 'BUDGET_EXCEEDED' }))
    expect(store.asks.find('a')).toMatchObject({ state: 'waiting' })
  })

  it('refuse more notes, grants, tokens, sessions, jobs and slots than fit, and lose none', () => {
    const store = createMemoryStore({ maxEntries: 1 })
    const common = { body: '{}', createdAt: 0 }
    const adding = [
      (id: string) =>
        store.memory.add({ id, scope: 's', text: '', tags: [], origin: '{}', createdAt: 0, updatedAt: 0 }),
      (id: string) => store.grants.put({ ...common, id, tool: 't' }),
      (id: string) => store.tokens.add({ ...common, id, name: id, hash: id }),
      (id: string) => store.signIns.add({ ...common, hash: id, token: 't', expiresAt: 9 }),
      (id: string) => store.jobs.add({ id, kind: 'k', body: '', dueAt: 0 }),
      (id: string) => store.slots.lease(id, { owner: 'o', now: 0, until: 9 }),
    ]
    for (const add of adding) {
      add('a')
      expect(() => add('b')).toThrow(expect.objectContaining({ code: 'BUDGET_EXCEEDED' }))
    }
  })

  it('keep the calls and runs that came last', () => {
    const store = createMemoryStore({ maxEntries: 2 })
    const calls = ['a', 'b', 'c'].map((callId, n) => ({
      callId,
      run: callId,
      seq: n,
      tool: 't',
      caller: 'c',
      status: 'ok',
      startedAt: n,
    }))
    store.calls.put({ calls, runs: [] })
    expect(store.calls.calls({ limit: 10 })).toEqual([calls[2], calls[1]])
    expect(store.calls.run('a')).toBeUndefined()
  })

  it('say that there is no file to copy', async () => {
    await expect(createMemoryStore().backup('anywhere')).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })
})
