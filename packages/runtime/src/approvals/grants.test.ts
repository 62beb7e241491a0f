import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMemoryStore, openStore } from '@tool-hub/library/stores'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ApprovalReply } from '../../../core/src/events.ts'
import type { GrantStore, Store } from '../../../core/src/store.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { Grants } from './grants.ts'

const request = { run: 'run-1', tool: 'notes.save', targets: ['write:fs /a', 'write:fs /b'], hash: 'hash-1' }
const call = { hash: 'hash-1', tool: 'notes.save', targets: request.targets, session: 'run:run-1' }

describe('what an answer covers', () => {
  const grants = () => new Grants({ store: createMemoryStore().grants, clock: fakeClock() })

  it('keeps nothing of an answer for once', async () => {
    const all = grants()
    expect(await all.remember(request, { decision: 'allow' })).toBeUndefined()
    expect(await all.remember(request, { decision: 'allow', remember: 'once' })).toBeUndefined()
    expect(await all.find(call)).toBeUndefined()
  })

  it('covers only the very call by default', async () => {
    const all = grants()
    await all.remember(request, { decision: 'allow', remember: 'always' })
    expect((await all.find(call))?.effect).toBe('allow')
    expect(await all.find({ ...call, hash: 'hash-2' })).toBeUndefined()
    expect(await all.find({ ...call, tool: 'notes.drop' })).toBeUndefined()
  })

  it('covers calls of the tool within the targets when said', async () => {
    const all = grants()
    await all.remember(request, { decision: 'allow', remember: 'always', covers: 'targets' })
    const other = { ...call, hash: 'hash-2' }
    expect((await all.find({ ...other, targets: ['write:fs /b'] }))?.effect).toBe('allow')
    expect(await all.find({ ...other, targets: ['write:fs /b', 'write:fs /c'] })).toBeUndefined()
    expect(await all.find({ ...other, targets: [] })).toBeUndefined()
    expect(await all.find({ ...other, tool: 'notes.drop' })).toBeUndefined()
  })

  it('takes an answer without targets for calls without targets only', async () => {
    const all = grants()
    await all.remember({ ...request, targets: [] }, { decision: 'allow', remember: 'always', covers: 'targets' })
    expect((await all.find({ ...call, hash: 'x', targets: [] }))?.effect).toBe('allow')
    expect(await all.find({ ...call, hash: 'x' })).toBeUndefined()
  })

  it('prefers the answer to the very call, and among equals the no', async () => {
    const all = grants()
    const remember = (reply: ApprovalReply) => all.remember(request, { remember: 'always', ...reply })
    await remember({ decision: 'allow', covers: 'targets' })
    await remember({ decision: 'deny', covers: 'targets' })
    expect((await all.find(call))?.effect).toBe('deny')
    await remember({ decision: 'allow', covers: 'exact' })
    expect((await all.find(call))?.effect).toBe('allow')
    await remember({ decision: 'deny', covers: 'exact' })
    expect((await all.find(call))?.effect).toBe('deny')
  })

  it('holds in its session only; without a session, in its run only', async () => {
    const all = grants()
    await all.remember({ ...request, session: 's1' }, { decision: 'allow', remember: 'session' })
    expect((await all.find({ ...call, session: 's1' }))?.session).toBe('s1')
    expect(await all.find(call)).toBeUndefined()
    expect(await all.find({ ...call, session: undefined })).toBeUndefined()
    await all.remember(request, { decision: 'allow', remember: 'session' })
    expect((await all.find(call))?.session).toBe('run:run-1')
  })

  it('ends with its session, or with its run', async () => {
    const all = grants()
    await all.remember({ ...request, session: 's1' }, { decision: 'allow', remember: 'session' })
    await all.remember(request, { decision: 'deny', remember: 'session' })
    const kept = await all.remember(request, { decision: 'allow', remember: 'always' })
    all.endSession('run:run-1')
    expect(await all.find(call)).toEqual(kept)
    expect(await all.list()).toHaveLength(2)
    all.endSession('s1')
    expect(await all.list()).toEqual([kept])
  })

  it('ends with its time', async () => {
    const clock = fakeClock(Date.UTC(2026, 0, 1))
    const all = new Grants({ store: createMemoryStore().grants, clock })
    await all.remember(request, { decision: 'allow', remember: { until: '2026-01-01T01:00:00+00:30' } })
    await clock.advance(30 * 60_000 - 1)
    expect((await all.find(call))?.until).toBe('2026-01-01T00:30:00.000Z')
    await clock.advance(1)
    expect(await all.find(call)).toBeUndefined()
    expect(await all.list()).toEqual([])
    expect(
      await all.remember(request, { decision: 'allow', remember: { until: '2020-01-01T00:00:00Z' } }),
    ).toBeUndefined()
  })

  it('refuses to remember an answer that makes no sense', async () => {
    const reply = { decision: 'allow', remember: { until: 'never' } } as ApprovalReply
    await expect(grants().remember(request, reply)).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
  })

  it('lists answers once each, and takes them back by id', async () => {
    const all = grants()
    const first = await all.remember(request, { decision: 'allow', remember: 'session', by: 'ada' })
    const second = await all.remember(request, { decision: 'allow', remember: 'session', by: 'ada', reason: 'again' })
    expect(await all.list()).toEqual([second])
    expect(await all.revoke(first?.id ?? '')).toBe(false)
    expect(await all.revoke(second?.id ?? '')).toBe(true)
    expect(await all.find(call)).toBeUndefined()
  })
})

describe('whose calls an answer covers', () => {
  it('is bound to the principal, and to nobody when there was none', async () => {
    const all = new Grants({ store: createMemoryStore().grants, clock: fakeClock() })
    await all.remember({ ...request, principal: 'token:ci' }, { decision: 'allow', remember: 'always' })
    expect((await all.find({ ...call, principal: 'token:ci' }))?.effect).toBe('allow')
    expect(await all.find({ ...call, principal: 'token:other' })).toBeUndefined()
    expect(await all.find(call)).toBeUndefined()
    await all.remember(request, { decision: 'allow', remember: 'session' })
    expect(await all.find({ ...call, principal: 'token:other' })).toBeUndefined()
  })
})

describe('saved answers', () => {
  let folder: string
  let stores: Store[]
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'grants-'))
    stores = [openStore(folder), openStore(folder)]
  })
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()))
    await rm(folder, { recursive: true })
  })
  const open = (store: Store) => new Grants({ store: store.grants, clock: fakeClock() })

  it('are seen immediately by everybody who shares the store, and so is their end; a session answer is not', async () => {
    const [one, other] = stores.map(open) as [Grants, Grants]
    await one.remember(request, { decision: 'allow', remember: 'session' })
    expect(await other.find(call)).toBeUndefined()
    const grant = await one.remember(request, { decision: 'allow', remember: 'always', by: 'ada', reason: 'fine' })
    expect(await other.find(call)).toEqual(grant)
    expect(await other.revoke(grant!.id)).toBe(true)
    expect(await one.list()).toHaveLength(1)
    expect(await one.revoke(grant!.id)).toBe(false)
  })

  it('take the place of those that say the same, and drop those whose time is over', async () => {
    const clock = fakeClock()
    const [one, other] = stores.map((store) => new Grants({ store: store.grants, clock })) as [Grants, Grants]
    const until = new Date(clock.now() + 1000).toISOString()
    await one.remember({ ...request, hash: 'x' }, { decision: 'allow', remember: { until } })
    await clock.advance(1)
    await other.remember({ ...request, hash: 'y' }, { decision: 'deny', remember: 'always' })
    await one.remember({ ...request, hash: 'y' }, { decision: 'deny', remember: 'always', reason: 'again' })
    expect((await other.list()).map(({ hash, reason }) => [hash, reason])).toEqual([
      ['x', undefined],
      ['y', 'again'],
    ])
    await clock.advance(1000)
    expect((await other.list()).map(({ hash }) => hash)).toEqual(['y'])
  })

  const broken: [string, (store: GrantStore) => GrantStore][] = [
    ['cannot be read', () => ({ put() {}, list: () => Promise.reject(new Error('locked')), remove: () => false })],
    [
      'holds a grant that nobody understands',
      () => {
        const { grants } = createMemoryStore()
        void grants.put({ id: 'grant-1', tool: 'notes.save', body: '{"effect":"allow","tool":"*"}', createdAt: 0 })
        return grants
      },
    ],
  ]
  it.each(broken)('allow nothing while the store %s, and a no still counts', async (_, make) => {
    const all = new Grants({ store: make(createMemoryStore().grants), clock: fakeClock() })
    await all.remember(request, { decision: 'allow', remember: 'session' })
    expect(await all.find(call)).toBeUndefined()
    await all.remember(request, { decision: 'deny', remember: 'session' })
    expect((await all.find(call))?.effect).toBe('deny')
    await expect(all.list()).rejects.toThrow()
  })
})
