import { createMemoryStore } from '@tool-hub/library/stores'
import { describe, expect, it } from 'vitest'
import { storeSuite } from '../../../testing/src/store-suite.ts'

storeSuite('a store in memory', createMemoryStore, { describe, it, expect })

const note = { id: 'n', scope: 's', text: '', tags: [], origin: '{}', createdAt: 0, updatedAt: 0 }
const canvas = {
  ...{ id: 'c', name: 'c', title: '', run: 'r', caller: 'a', tainted: false, createdAt: 0 },
  kind: 'html' as const,
  version: { artifact: 'a', bytes: 1, callId: 'c' },
}
const schedule = {
  ...{ id: 's', principal: 'p', name: 's', body: '{}', version: 0, createdAt: 1, runs: 0 },
  state: 'on' as const,
}
const process = {
  ...{ host: 'h', pid: 1, version: '1', labels: [], running: 0, isDraining: false, startedAt: 0 },
  kind: 'service' as const,
}
/** What the refusals of the parts that lose nothing call their entries. */
const HELD = [
  ...['notes', 'grants', 'tokens', 'sign-ins', 'jobs', 'slots', 'canvases', 'schedules'],
  ...['states of runs', 'states of runs', 'states of runs', 'settings', 'processes'],
]

describe('createMemoryStore', () => {
  it('answers immediately, without a promise', () => {
    const store = createMemoryStore()
    expect(store.keys.claim('k', { argsHash: 'h', owner: 'o', now: 0 })).toBeUndefined()
    expect(store.keys.look('k')).toEqual({ argsHash: 'h', state: 'running', owner: 'o' })
    expect(store.budgets.reserve([{ account: 'a', limits: { calls: 1 } }], 0)).toMatchObject({ ok: true })
    expect(store.rates.take([{ bucket: 'b', perSecond: 1, burst: 1 }], 0)).toEqual({ ok: true })
    expect(store.grants.list()).toEqual([])
  })
})

describe('the bounds of a store in memory', () => {
  const claimAndFinish = (store: ReturnType<typeof createMemoryStore>, key: string, result?: string) => {
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
    claimAndFinish(store, 'fits', 'x'.repeat(10))
    expect(store.keys.look('fits')).toMatchObject({ result: 'x'.repeat(10) })
    claimAndFinish(store, 'next', 'x'.repeat(9))
    expect(store.keys.look('fits')).toBeUndefined()
  })

  it('count a result by its characters, an empty or missing one as one', () => {
    for (const result of ['', '1', undefined]) {
      const store = createMemoryStore({ maxResultChars: 2 })
      for (const key of ['a', 'b']) claimAndFinish(store, key, result)
      expect(store.keys.look('a')).toMatchObject({ state: 'finished' })
      claimAndFinish(store, 'c', result)
      expect([store.keys.look('a'), store.keys.look('b')]).toEqual([expect.anything(), undefined])
    }
  })

  it('are 10,000 keys, 64 million characters and 10,000 of everything else by default', () => {
    const store = createMemoryStore()
    for (let n = 0; n < 10_000; n++) claimAndFinish(store, `k${n}`, '')
    expect(store.keys.look('k0')).toBeDefined()
    claimAndFinish(store, 'more', '')
    expect([store.keys.look('k0'), store.keys.look('k1')].filter(Boolean)).toHaveLength(1)
    claimAndFinish(store, 'large', 'x'.repeat(67_108_865))
    expect(store.keys.look('large')).not.toHaveProperty('result')
    claimAndFinish(store, 'fits', 'x'.repeat(67_108_864))
    expect(store.keys.look('fits')).toHaveProperty('result.length', 67_108_864)
    for (let n = 0; n < 10_000; n++) store.grants.put({ id: `g${n}`, tool: 't', body: '', createdAt: 0 })
    expect(() => store.grants.put({ id: 'more', tool: 't', body: '', createdAt: 0 })).toThrow(
      expect.objectContaining({
        code: 'BUDGET_EXCEEDED',
        message: 'The store in memory holds 10000 grants, and at most 10000.',
        fix: { hint: 'Remove what is not needed any more, or keep the store in a file: openStore(folder).' },
      }),
    )
  })

  it('let approval requests that are over make room, and refuse one more when all wait', () => {
    const store = createMemoryStore({ maxEntries: 2 })
    const file = (id: string) =>
      store.approvals.file({
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
    store.approvals.withdraw('b', 'expired')
    file('c')
    expect(store.approvals.find('b')).toBeUndefined()
    expect(() => file('d')).toThrow(expect.objectContaining({ code: 'BUDGET_EXCEEDED' }))
    expect(store.approvals.find('a')).toMatchObject({ state: 'waiting' })
    store.approvals.answer('a', { reply: '{}', by: 'ada', via: 'console', at: 5 })
    expect(() => file('d')).toThrow('holds 2 approval requests that wait, and at most 2.')
    store.approvals.use('a')
    file('d')
    const waiting = expect.objectContaining({ state: 'waiting' })
    expect(['a', 'c', 'd'].map((id) => store.approvals.find(id))).toEqual([undefined, waiting, waiting])
  })

  it('refuse more notes, grants, tokens, sign-ins, jobs, slots and so on than fit, and lose none', () => {
    const store = createMemoryStore({ maxEntries: 1 })
    const common = { body: '{}', createdAt: 0 }
    const adding = [
      (id: string) => store.memory.add({ ...note, id }),
      (id: string) => store.grants.put({ ...common, id, tool: 't' }),
      (id: string) => store.tokens.add({ ...common, id, name: id, hash: id }),
      (id: string) => store.signIns.add({ ...common, hash: id, token: 't', expiresAt: 9 }),
      (id: string) => store.jobs.add({ id, kind: 'k', body: '', dueAt: 0 }),
      (id: string) => store.slots.lease(id, { owner: 'o', now: 0, until: 9 }),
      (id: string) => store.canvases.add({ ...canvas, id, name: id }, { maxOfRun: 9 }),
      (id: string) => store.schedules.add({ ...schedule, id, name: id }, { most: 9 }),
      (id: string) => store.runStates.lease(id, { owner: 'o' }),
      (id: string) => store.runStates.own(id, 'p'),
      (id: string) => store.runStates.taint(id, ['web']),
      (id: string) => store.settings.secret(id),
      (id: string) => store.processes.beat({ ...process, id }),
    ]
    for (const [index, add] of adding.entries()) {
      add('a')
      const message = `The store in memory holds 1 ${HELD[index]}, and at most 1.`
      expect(() => add('b')).toThrow(expect.objectContaining({ code: 'BUDGET_EXCEEDED', message }))
    }
    // What is there already needs no room.
    for (const index of [1, 3, 4, 5]) adding[index]!('a')
    expect(store.memory.add({ ...note, id: 'a' })).toBe(false)
    expect(store.memory.replace({ ...note, id: 'a', text: 'changed' })).toBe(true)
    store.sweep(8)
    expect(() => adding[5]!('b')).toThrow('slots')
    store.sweep(9)
    expect(adding[5]!('b')).toBe(true)
  })

  it('refuse more documents than fit, and replace those that are there', () => {
    const store = createMemoryStore({ maxEntries: 1 })
    store.documents.write('a', 'one', 0)
    expect(() => store.documents.write('b', 'two', 0)).toThrow('holds 1 documents, and at most 1.')
    expect(store.documents.read('b')).toBeUndefined()
    expect(store.documents.write('a', 'two', 1)).toBe(true)
  })

  it('let runs of schedules that are over make room, and refuse one more when none is', () => {
    const store = createMemoryStore({ maxEntries: 2 })
    store.schedules.add(schedule, { most: 9 })
    const common = { schedule: 's', dueAt: 1, missed: 0, owner: 'me', leasedUntil: 9 }
    const add = (id: string, status: 'waiting' | 'missed' = 'waiting') =>
      store.schedules.addRun({ ...common, id, status }, { policy: 'queue', maxActive: 9 })
    add('a')
    add('b', 'missed')
    add('c')
    expect(store.schedules.findRun('b')).toBeUndefined()
    expect(() => add('d')).toThrow('The store in memory holds 2 runs of schedules, and at most 2.')
    expect(store.schedules.active(9)).toMatchObject([{ id: 'a' }, { id: 'c' }])
  })

  it('let messages that were read make room, and refuse one more when all wait', () => {
    const store = createMemoryStore({ maxEntries: 2 })
    const put = (id: string) =>
      store.mail.put({ id, inbox: 'i', sender: 's', text: '', isTainted: false, sentAt: 1 }, { maxUnread: 9 })
    const ids = () => (store.mail.list({ session: 'i', limit: 9 }) as readonly { id: string }[]).map(({ id }) => id)
    put('a')
    put('b')
    expect(() => put('c')).toThrow('The store in memory holds 2 unread messages, and at most 2.')
    store.mail.take('i', { limit: 1, now: 2 })
    put('c')
    expect(ids()).toEqual(['b', 'c'])
  })

  it('let sessions that are over make room, then runs in which none was begun, and no other', () => {
    const store = createMemoryStore({ maxEntries: 3 })
    const add = (id: string, more: object = {}) =>
      store.sessions.add({
        ...{ id, root: 'r', depth: 0, rootPrincipal: 'owner', isTainted: false, createdAt: 1, owner: 'o' },
        ...more,
      })
    const ids = () => (store.sessions.list({}) as readonly { id: string }[]).map(({ id }) => id).join('')
    add('r')
    add('b', { root: 'b' })
    add('c', { runner: 'x' })
    store.sessions.end('c', { state: 'ended', at: 2 })
    add('d', { runner: 'x' })
    expect(ids()).toBe('dbr')
    add('e', { runner: 'x' })
    expect(ids()).toBe('edr')
    expect(() => add('f')).toThrow('The store in memory holds 3 running sessions, and at most 3.')
    expect(add('e')).toBeUndefined()
  })

  it('keep the heads that came last', () => {
    const store = createMemoryStore({ maxEntries: 2 })
    const put = (run: string, seq = 1) => store.heads.put({ run, opening: 'o', seq, hash: 'h', at: 1 })
    for (const run of ['a', 'b']) put(run)
    put('a', 2)
    put('c')
    expect(store.heads.list()).toMatchObject([{ run: 'a', seq: 2 }, { run: 'c' }])
  })

  it('forget the budgets and the rates that were used longest ago', () => {
    const store = createMemoryStore({ maxEntries: 1 })
    for (const account of ['a', 'b']) store.budgets.reserve([{ account, limits: {} }], 0)
    expect([store.budgets.used('a'), store.budgets.used('b')]).toMatchObject([{ calls: 0 }, { calls: 1 }])
    expect(store.budgets.settle(['a'], { wallMs: 1, bytes: 1 })).toMatchObject([{ wallMs: 0 }])
    const take = (bucket: string) => store.rates.take([{ bucket, perSecond: 1, burst: 1 }], 0)
    expect(['a', 'b', 'a'].map(take)).toEqual([{ ok: true }, { ok: true }, { ok: true }])
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

  it('say that no file can be copied', async () => {
    await expect(createMemoryStore().backup('anywhere')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      fix: { hint: 'Give the hub a store in a folder: openStore(folder).' },
    })
  })
})

it('refuses a note with a NUL character, as a store in a file does', () => {
  const store = createMemoryStore()
  expect(() => store.memory.add({ ...note, id: 'a', text: 'a\0b' })).toThrow(
    expect.objectContaining({
      code: 'INPUT_SCHEMA_INVALID',
      message: 'Text in the store must not contain a NUL character.',
    }),
  )
})

it('is silent after its end', async () => {
  const store = createMemoryStore()
  const heard: string[] = []
  store.events.watch(({ topic }) => heard.push(topic))
  store.events.append({ topic: 'before', body: '', at: 1 })
  await Promise.resolve()
  await store.close()
  store.events.append({ topic: 'after', body: '', at: 2 })
  await Promise.resolve()
  expect(heard).toEqual(['before'])
})
