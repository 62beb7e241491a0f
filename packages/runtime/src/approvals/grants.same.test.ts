import { createMemoryStore } from '@tool-hub/library/stores'
import { describe, expect, it } from 'vitest'
import type { ApprovalReply } from '../../../core/src/events.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { Grants } from './grants.ts'

const request = { run: 'run-1', tool: 'notes.save', targets: ['write:fs /a', 'write:fs /b'], hash: 'hash-1' }
const call = { hash: 'hash-1', tool: 'notes.save', targets: request.targets, session: 'run:run-1' }
const pattern = { on: ['write:fs /notes/**', 'read:fs /notes/**'], shown: 'files below /notes' }
const yes: ApprovalReply = { decision: 'allow', remember: 'session' }

function newGrants() {
  const clock = fakeClock()
  return { clock, all: new Grants({ store: createMemoryStore().grants, clock }) }
}

describe('two answers', () => {
  type Answer = [request: Partial<Parameters<Grants['remember']>[0]>, reply?: Partial<ApprovalReply>]
  const other: [string, Answer, Answer][] = [
    ['about other tools', [{}], [{ tool: 'notes.drop' }]],
    ['of which one is a no', [{}], [{}, { decision: 'deny' }]],
    ['of which one covers the targets', [{}], [{}, { covers: 'targets' }]],
    ['for other sessions', [{ session: 's1' }], [{ session: 's2' }]],
    ['for a session and for its run', [{}], [{ session: 's1' }]],
    ['of which one is saved', [{}], [{}, { remember: 'always' }]],
    ['for other principals', [{ principal: 'token:a' }], [{ principal: 'token:b' }]],
    ['for a principal and for nobody', [{ principal: 'token:a' }], [{}]],
    ['about other calls', [{}], [{ hash: 'hash-2' }]],
    ['about fewer targets', [{}, { covers: 'targets' }], [{ targets: ['write:fs /a'] }, { covers: 'targets' }]],
    [
      'about other targets',
      [{}, { covers: 'targets' }],
      [{ targets: ['write:fs /a', 'write:fs /c'] }, { covers: 'targets' }],
    ],
    [
      'about other patterns',
      [{ pattern }, { covers: 'pattern' }],
      [{ pattern: { ...pattern, on: ['write:fs /notes/**'] } }, { covers: 'pattern' }],
    ],
    [
      'of which one covers a pattern that reads like the targets of the other',
      [{}, { covers: 'targets' }],
      [{ pattern: { ...pattern, on: request.targets } }, { covers: 'pattern' }],
    ],
  ]
  it.each(other)('%s are both kept', async (_, first, second) => {
    const { all } = newGrants()
    const kept = []
    for (const [change, reply] of [first, second])
      kept.push(await all.remember({ ...request, ...change }, { ...yes, ...reply }))
    const list = await all.list()
    expect(list).toHaveLength(2)
    expect(list).toEqual(expect.arrayContaining(kept))
  })

  const same: [string, Answer, Answer][] = [
    ['to one call, whatever its targets', [{}], [{ targets: [] }]],
    [
      'about the same targets in another order, whatever the call',
      [{}, { covers: 'targets' }],
      [{ targets: request.targets.toReversed(), hash: 'hash-2' }, { covers: 'targets' }],
    ],
    [
      'about the same patterns, whatever they are called',
      [{ pattern }, { covers: 'pattern' }],
      [{ pattern: { ...pattern, shown: 'notes' }, hash: 'hash-2' }, { covers: 'pattern' }],
    ],
    ['of the same principal', [{ principal: 'token:a' }], [{ principal: 'token:a' }]],
  ]
  it.each(same)('%s become one, the newer', async (_, first, second) => {
    for (const remember of ['session', 'always'] as const) {
      const { all } = newGrants()
      const answer = ([change, reply]: Answer) =>
        all.remember({ ...request, ...change }, { ...yes, remember, ...reply })
      await answer(first)
      const newer = await answer(second)
      expect(await all.list()).toEqual([newer])
    }
  })

  it('of the same strength leave it to the older', async () => {
    for (const decision of ['allow', 'deny'] as const) {
      const { all } = newGrants()
      const answer = (targets: string[]) =>
        all.remember({ ...request, targets }, { decision, remember: 'session', covers: 'targets' })
      const older = await answer([...request.targets, 'write:fs /c'])
      await answer([...request.targets, 'write:fs /d'])
      expect(await all.find(call)).toEqual(older)
    }
  })

  it('are listed oldest first, wherever they are kept', async () => {
    const { all, clock } = newGrants()
    const hashes = ['first', 'second', 'third', 'fourth']
    for (const [index, hash] of hashes.entries()) {
      await all.remember({ ...request, hash }, { ...yes, remember: index % 2 === 0 ? 'session' : 'always' })
      await clock.advance(1)
    }
    expect((await all.list()).map(({ hash }) => hash)).toEqual(hashes)
  })
})

describe('a pattern', () => {
  const permits = ({ shown }: { shown: string }) => shown === pattern.shown
  const byPattern: ApprovalReply = { ...yes, covers: 'pattern' }

  it('covers what the rules would allow with it, and no call that must be approved itself', async () => {
    const { all } = newGrants()
    const grant = await all.remember({ ...request, pattern }, byPattern)
    expect(grant).toMatchObject({ covers: 'pattern', pattern })
    const other = { ...call, hash: 'hash-2', targets: ['write:fs /notes/c'] }
    expect(await all.find({ ...other, permits })).toEqual(grant)
    expect(await all.find({ ...other, permits: () => false })).toBeUndefined()
    expect(await all.find(other)).toBeUndefined()
    expect(await all.find({ ...other, permits, isExact: true })).toBeUndefined()
    expect(await all.find({ ...call, permits, isExact: true })).toBeUndefined()
    expect(await all.find({ ...other, permits, tool: 'notes.drop' })).toBeUndefined()
  })

  it('covers the tools whose names begin as it says, also from the store', async () => {
    for (const remember of ['session', 'always'] as const) {
      const { all } = newGrants()
      const ofServer = { ...pattern, tools: 'mcp/files/' }
      const asked = { ...request, tool: 'mcp/files/write', pattern: ofServer }
      const grant = await all.remember(asked, { ...byPattern, remember })
      expect(await all.find({ ...call, tool: 'mcp/files/read', permits })).toEqual(grant)
      expect(await all.find({ ...call, tool: 'mcp/mail/read', permits })).toBeUndefined()
    }
  })

  it.each([
    ['no', { ...byPattern, decision: 'deny' as const }, pattern],
    ['yes where none was offered', byPattern, undefined],
  ])('is nothing that a %s covers: it is for the very call', async (_, reply, pattern) => {
    const { all } = newGrants()
    const grant = await all.remember({ ...request, pattern }, reply)
    expect(grant?.covers).toBe('exact')
    expect(grant).not.toHaveProperty('pattern')
    expect(await all.find(call)).toEqual(grant)
    expect(await all.find({ ...call, hash: 'hash-2', permits })).toBeUndefined()
  })
})

describe('an answer', () => {
  it('says who gave it, why, for whom, until when', async () => {
    const { all, clock } = newGrants()
    const until = '2026-01-01T01:00:00+00:30'
    const reply: ApprovalReply = { decision: 'deny', remember: { until }, by: 'ada', reason: 'not now' }
    const grant = await all.remember({ ...request, principal: 'token:ci', session: 's1' }, reply)
    expect(grant).toEqual({
      id: expect.stringMatching(/^grant-[0-9a-f]{16}$/),
      effect: 'deny',
      tool: 'notes.save',
      covers: 'exact',
      hash: 'hash-1',
      targets: request.targets,
      principal: 'token:ci',
      until: '2026-01-01T00:30:00.000Z',
      by: 'ada',
      reason: 'not now',
      createdAt: new Date(clock.now()).toISOString(),
    })
    const bare = await all.remember(request, { decision: 'allow', remember: 'always' })
    expect(Object.keys(bare!).sort()).toEqual(['by', 'covers', 'createdAt', 'effect', 'hash', 'id', 'targets', 'tool'])
    expect(bare?.by).toBe('approver')
  })

  it('is remembered only when its time is not over', async () => {
    const { all, clock } = newGrants()
    const until = (ms: number) => ({ until: new Date(clock.now() + ms).toISOString() })
    expect(await all.remember(request, { ...yes, remember: until(0) })).toBeUndefined()
    expect(await all.list()).toEqual([])
    expect(await all.remember(request, { ...yes, remember: until(1) })).toBeDefined()
    expect(await all.list()).toHaveLength(1)
  })

  it('about targets covers a call that must be approved itself only when it was for that call, but a no does', async () => {
    for (const decision of ['allow', 'deny'] as const) {
      const { all } = newGrants()
      const grant = await all.remember(request, { decision, remember: 'session', covers: 'targets' })
      expect(await all.find({ ...call, isExact: true })).toEqual(grant)
      const found = await all.find({ ...call, hash: 'hash-2', isExact: true })
      expect(found).toEqual(decision === 'deny' ? grant : undefined)
    }
  })

  it('for a session makes room after 10,000 others', async () => {
    const { all } = newGrants()
    const answer = (index: number) => all.remember({ ...request, hash: `hash ${index}` }, yes)
    const first = await answer(0)
    for (let index = 1; index < 10_000; index++) await answer(index)
    expect(await all.find({ ...call, hash: 'hash 0' })).toEqual(first)
    const again = await answer(2)
    await answer(10_000)
    expect(await all.find({ ...call, hash: 'hash 0' })).toBeUndefined()
    for (const index of [1, 10_000]) expect(await all.find({ ...call, hash: `hash ${index}` })).toBeDefined()
    expect(await all.list()).toHaveLength(10_000)
    await answer(10_001)
    await answer(10_002)
    expect(await all.find({ ...call, hash: 'hash 2' })).toEqual(again)
  })
})
