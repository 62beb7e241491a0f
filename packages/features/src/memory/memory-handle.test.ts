import { describe, expect, it } from 'vitest'
import { bareMemory as open } from '../../../../test/support/bare-memory.ts'
import type { MemoryScope } from './types.ts'

const HEX = /^note-[0-9a-f]{16}$/

describe('a call that writes', () => {
  it('keeps a note with where it comes from', async () => {
    const { as, service, told, permitted, notices } = open()
    const written = await as({ principal: 'token:ci' }).write({ content: 'a hunter2', tags: [' x '] })
    expect(written).toEqual({ id: expect.stringMatching(HEX), scope: 'agent', state: 'stored' })
    expect(await service.find(written.id)).toEqual({
      ...{ id: written.id, scope: 'agent', key: 'agent:token:ci', content: 'a [redacted]', tags: ['x'] },
      ...{ createdAt: 1_000, updatedAt: 1_000 },
      origin: {
        ...{ run: 'r1', session: 's1', callId: 'c1', caller: 'me', principal: 'token:ci' },
        ...{ tainted: false, reviewed: false, at: 1_000 },
      },
    })
    expect([told, permitted]).toEqual([[['memory', written.id]], ['agent']])
    expect(notices).toEqual(['The note contained a secret, which was removed before it was stored.'])
  })

  it.each([
    ['in candidate mode', { writeMode: 'candidate' as const }, {}],
    ['after content from outside', {}, { isTainted: true }],
  ])('waits for review %s, as do its changes', async (_, options, call) => {
    const { as, service, candidates, permitted, told } = open({ ...options, limits: { candidatesPerRun: 7 } })
    const { id, state } = await as(call).write({ content: 'new', scope: 'shared' })
    expect([state, permitted, told]).toEqual(['candidate', ['candidate/shared'], [['memory', id]]])
    expect(id).toMatch(/^r1\.[0-9a-f]{16}$/)
    expect(candidates.all).toMatchObject([{ id, run: 'r1', key: 'shared', content: 'new', tags: [], scope: 'shared' }])
    expect(candidates.limits).toEqual([7])
    const note = await service.promote(id, { by: 'ada' })
    permitted.length = 0
    const change = await as(call).update({ id: note.id, scope: 'shared', tags: ['t'] })
    expect([change.state, permitted]).toEqual(['candidate', ['candidate/shared']])
    expect(candidates.all[0]).toMatchObject({ replaces: note.id, content: 'new', tags: ['t'] })
    await as(call).update({ id: note.id, scope: 'shared', content: 'other' })
    expect(candidates.all[0]).toMatchObject({ content: 'other', tags: [] })
    await expect(as(call).update({ id: note.id, scope: 'agent', tags: [] })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
  })

  it('changes and forgets a note of its own scope', async () => {
    const { as, service, told, permitted, clock } = open()
    const { id } = await as().write({ content: 'one', tags: ['a'] })
    await clock.advance(5)
    expect(await as().update({ id, scope: 'agent', content: 'two' })).toEqual({ id, scope: 'agent', state: 'stored' })
    expect(await service.find(id)).toMatchObject({ content: 'two', tags: ['a'], createdAt: 1_000, updatedAt: 1_005 })
    await as().update({ id, scope: 'agent', tags: [] })
    expect(await service.find(id)).toMatchObject({ content: 'two', tags: [] })
    await as().forget({ id, scope: 'agent' })
    expect(await service.find(id)).toBeUndefined()
    expect([told.length, permitted]).toEqual([4, ['agent', 'agent', 'agent', 'agent']])
    for (const gone of [() => as().forget({ id, scope: 'agent' }), () => as().update({ id, scope: 'agent', tags: [] })])
      await expect(gone()).rejects.toMatchObject({
        code: 'NOT_FOUND',
        message: `Note "${id}" not found in your scope agent.`,
        fix: { hint: 'Recall it, and use the id and the scope of the result.' },
      })
  })

  it.each<[string, (world: ReturnType<typeof open>) => Promise<unknown>, string, string]>([
    [
      'nothing to change',
      ({ as }) => as().update({ id: 'n', scope: 'agent' }),
      'update needs content or tags.',
      'Give at least one of them.',
    ],
    [
      'a scope that does not exist',
      ({ as }) => as().write({ content: 'x', scope: 'all' as MemoryScope }),
      'Unknown scope "all".',
      'Use one of run, session, agent, shared.',
    ],
  ])('is refused with %s', async (_, act, message, hint) => {
    await expect(act(open())).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID', message, fix: { hint } })
  })

  it('needs the whole text where a provider keeps the notes', async () => {
    const { as, candidates } = open({ writeMode: 'candidate', provider: { recall: async () => [] } })
    await expect(as().update({ id: 'n', scope: 'agent', tags: ['x'] })).rejects.toMatchObject({
      message: 'update needs the content: this memory cannot be read by id.',
      fix: { hint: 'Give the complete new text.' },
    })
    await as().update({ id: 'n', scope: 'agent', content: 'x' })
    expect(candidates.all[0]).toMatchObject({ content: 'x', tags: [], replaces: 'n', origin: { tainted: false } })
  })

  it('needs an archive, and memory that is on', async () => {
    const without = open({ writeMode: 'candidate' }, { archive: 'none' })
    await expect(without.as().write({ content: 'x' })).rejects.toMatchObject({
      message: 'This hub keeps no records, so notes cannot wait for review.',
      fix: { key: 'runs', hint: 'Ask the owner to configure a folder for run records.' },
    })
    await expect(without.service.reject('r.1', { by: 'ada' })).rejects.toThrow('no note waits for review')
    expect(await without.service.candidate('r.1')).toBeUndefined()
    await expect(open({ enabled: false }).as().recall({ query: 'x' })).rejects.toMatchObject({
      code: 'TOOL_DISABLED',
      message: 'Memory is off: memory.enabled is false.',
      fix: { key: 'memory.enabled', value: true, hint: 'Ask the owner to turn it on.' },
    })
    const reading = open({ writeMode: 'disabled' })
    expect(await reading.as().recall({ query: 'x' })).toEqual([])
    await expect(reading.as().forget({ id: 'n', scope: 'agent' })).rejects.toMatchObject({
      message: 'Memory is read-only: memory.write_mode is disabled.',
      fix: { key: 'memory.write_mode', value: 'candidate', hint: 'Ask the owner to choose another mode.' },
    })
  })
})

describe('a call that reads', () => {
  it('finds notes of its scopes: ten without a limit, 50 at most', async () => {
    const { as, permitted, marks } = open()
    for (let n = 0; n < 51; n++) await as().write({ content: `tea ${n}` })
    permitted.length = 0
    const count = async (wish: object) => (await as().recall({ query: 'tea', ...wish })).length
    expect(await count({})).toBe(10)
    expect(permitted).toEqual(['run', 'session', 'agent', 'shared'])
    expect(await count({ limit: 50 })).toBe(50)
    expect(await count({ limit: 51 })).toBe(50)
    for (const limit of [0, -1, Number.NaN, 1.9]) expect(await count({ limit })).toBe(1)
    permitted.length = 0
    expect(await count({ scope: 'shared' })).toBe(0)
    expect([permitted, marks]).toEqual([['shared'], []])
    const [note] = await as().recall({ query: 'tea', limit: 1 })
    expect(Object.keys(note!).sort()).toEqual(['content', 'createdAt', 'id', 'isUntrusted', 'scope', 'score', 'tags'])
  })

  it('has read content from outside when a note holds some', async () => {
    const { as, service, marks } = open()
    await service.import([JSON.stringify({ id: 'n1', key: 'shared', content: 'tea', createdAt: 1 })], { by: 'ada' })
    expect(await as().recall({ query: 'tea' })).toMatchObject([{ id: 'n1', isUntrusted: true, scope: 'shared' }])
    expect(marks).toHaveLength(1)
  })

  it('forgets the notes of a run with it', async () => {
    const { as, endRun } = open()
    for (const scope of ['run', 'session', 'agent', 'shared'] as const) await as().write({ content: 'tea', scope })
    await endRun('r1')
    expect((await as().recall({ query: 'tea' })).map(({ scope }) => scope).sort()).toEqual([
      'agent',
      'session',
      'shared',
    ])
  })
})
