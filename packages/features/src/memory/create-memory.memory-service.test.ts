import { describe, expect, it } from 'vitest'
import { bareMemory as open } from '../../../../test/support/bare-memory.ts'

describe('the owner', () => {
  const line = (id: string, key: string, tags: string[] = []) =>
    JSON.stringify({ id, key, content: `tea ${id}`, tags, createdAt: 1 })

  it('learns the state of memory', async () => {
    expect(await open({ enabled: false }).service.status()).toEqual({
      ...{ enabled: false, writeMode: 'external', provider: 'embedded' },
    })
  })

  it('lists and searches notes by scope, key and tags', async () => {
    const { service } = open()
    const lines = [line('a', 'agent:x', ['t']), line('b', 'agent:y'), line('c', 'shared', ['t']), line('d', 'run:r')]
    await service.import(lines, { by: 'ada', trusted: true })
    const ids = async (filter?: object) => (await service.search(filter)).notes.map(({ id }) => id).sort()
    for (const query of [undefined, 'tea']) {
      const wish = query === undefined ? {} : { query }
      expect(await ids(wish)).toEqual(['a', 'b', 'c', 'd'])
      expect(await ids({ ...wish, scope: 'agent' })).toEqual(['a', 'b'])
      expect(await ids({ ...wish, scope: 'shared' })).toEqual(['c'])
      expect(await ids({ ...wish, key: 'agent:y' })).toEqual(['b'])
      expect(await ids({ ...wish, tags: ['t'] })).toEqual(['a', 'c'])
      expect(await ids({ ...wish, limit: 0 })).toHaveLength(1)
    }
  })

  it('exports all notes, or those of a scope', async () => {
    const { service } = open()
    await service.import([line('a', 'agent:x'), line('b', 'shared'), line('c', 'shared')], { by: 'ada', trusted: true })
    const ids = async (filter?: Parameters<typeof service.export>[0]) => {
      const found: string[] = []
      for await (const text of await service.export(filter)) found.push(JSON.parse(text).id)
      return found.sort()
    }
    expect(await ids()).toEqual(['a', 'b', 'c'])
    expect(await ids({ scope: 'agent' })).toEqual(['a'])
    expect(await ids({ scope: 'shared' })).toEqual(['b', 'c'])
  })

  it('lists 100 notes without a limit, 500 at most, page by page', async () => {
    const { service } = open()
    await service.import(
      Array.from({ length: 501 }, (_, n) => line(`n${n}`, 'shared')),
      { by: 'ada', trusted: true },
    )
    const page = async (filter?: object) => {
      const { notes, next } = await service.search(filter)
      return [notes.length, notes.at(-1)?.id, next !== undefined]
    }
    expect(await page()).toEqual([100, 'n401', true])
    expect(await page({ limit: 999 })).toEqual([500, 'n1', true])
    const { next } = await service.search({ limit: 500 })
    expect(await page({ limit: 5, before: next })).toEqual([1, 'n0', false])
  })

  it('forgets a note once, on record', async () => {
    const { service, recorded, told } = open()
    await service.import([line('a', 'agent:x')], { by: 'ada' })
    recorded.length = 0
    told.length = 0
    expect(await service.forget('a', { by: 'ada' })).toBe(true)
    expect(await service.forget('a', { by: 'ada' })).toBe(false)
    expect(recorded).toEqual([{ by: 'ada', change: 'memory-forgotten', subject: 'a' }])
    expect(told).toEqual([['memory', 'a']])
  })

  it('reads what waits: 100 without a limit, 500 at most', async () => {
    const { service, candidates } = open()
    for (const wish of [undefined, { limit: 999, run: 'r1', state: 'all' as const }, { limit: 0 }])
      await service.candidates(wish)
    expect(candidates.asked).toEqual([
      { state: 'waiting', limit: 100 },
      { state: 'all', limit: 500, run: 'r1' },
      { state: 'waiting', limit: 1 },
    ])
  })

  it('decides once on what waits, on record', async () => {
    const { as, service, recorded, told } = open({ writeMode: 'candidate' })
    const [one, two] = [await as().write({ content: 'one' }), await as().write({ content: 'two' })]
    told.length = 0
    const note = await service.promote(one.id, { by: 'ada', scope: 'session', tags: [' t '], content: 'a hunter2' })
    expect(note).toMatchObject({
      ...{ id: `note-${one.id.slice(3)}`, scope: 'session', key: 'session:s1', content: 'a [redacted]', tags: ['t'] },
      ...{ createdAt: 1_000, updatedAt: 1_000, origin: { reviewed: true, promotedBy: 'ada', tainted: false } },
    })
    expect(await service.reject(two.id, { by: 'bob', reason: 'is hunter2' })).toMatchObject({
      ...{ state: 'rejected', review: { by: 'bob', at: 1_000, reason: 'is [redacted]' } },
    })
    expect(recorded).toEqual([
      { by: 'ada', change: 'memory-promoted', subject: one.id },
      { by: 'bob', change: 'memory-rejected', subject: two.id },
    ])
    expect(told).toEqual([
      ['memory', one.id],
      ['memory', two.id],
    ])
    const hint = 'See the decision with tool-hub memory review --list --state all.'
    for (const decide of [service.promote, service.reject]) {
      await expect(decide(one.id, { by: 'eve' })).rejects.toMatchObject({
        ...{ code: 'CONFLICT', message: `${one.id} was promoted by ada already.`, fix: { hint } },
      })
      await expect(decide(two.id, { by: 'eve' })).rejects.toThrow(`${two.id} was rejected by bob already.`)
    }
    expect(recorded).toHaveLength(2)
  })

  it('accepts an imported note in its scope', async () => {
    const { service, recorded } = open()
    await service.import([line('a', 'agent:x', ['t'])], { by: 'ada' })
    await expect(service.promote('a', { by: 'bob', scope: 'shared' })).rejects.toMatchObject({
      message: 'The scope of a stored note cannot be changed.',
      fix: { hint: 'Forget it, and import it into the other scope.' },
    })
    expect(await service.promote('a', { by: 'bob', scope: 'agent', tags: [] })).toMatchObject({
      ...{ id: 'a', content: 'tea a', tags: [], origin: { reviewed: true, promotedBy: 'bob', importedBy: 'ada' } },
    })
    expect(recorded.at(-1)).toEqual({ by: 'bob', change: 'memory-promoted', subject: 'a' })
  })

  it('puts a change under a note of its own when the note is gone, or goes to another scope', async () => {
    const { as, service } = open()
    const { id } = await as().write({ content: 'one' })
    const change = () => as({ isTainted: true }).update({ id, scope: 'agent', content: 'two' })
    const moved = await change()
    expect(await service.promote(moved.id, { by: 'ada', scope: 'shared' })).toMatchObject({
      id: `note-${moved.id.slice(3)}`,
    })
    expect(await service.find(id)).toMatchObject({ content: 'one' })
    const late = await change()
    await service.forget(id, { by: 'ada' })
    expect(await service.promote(late.id, { by: 'ada' })).toMatchObject({
      id: `note-${late.id.slice(3)}`,
      content: 'two',
    })
  })

  it('searches what a provider keeps by words, in one scope', async () => {
    const asked: unknown[] = []
    const recall = async (query: object) => {
      asked.push(query)
      return [{ id: 'p1', content: 'x', tags: ['t'], createdAt: 5 }]
    }
    const { service } = open({ provider: { name: 'mine', recall } })
    expect(await service.search({ query: 'q', limit: 60 })).toEqual({
      notes: [
        {
          ...{ id: 'p1', scope: 'shared', key: 'shared', content: 'x', tags: ['t'], createdAt: 5, updatedAt: 5 },
          origin: { tainted: true, reviewed: false, at: 5 },
        },
      ],
    })
    await service.search({ query: 'q', key: 'agent:x', scope: 'agent', tags: ['t'], limit: 3 })
    expect(asked).toEqual([
      { query: 'q', keys: ['shared'], limit: 50, tags: [] },
      { query: 'q', keys: ['agent:x'], limit: 3, tags: ['t'] },
    ])
    for (const filter of [{}, { query: 'q', scope: 'agent' as const }])
      await expect(service.search(filter)).rejects.toMatchObject({
        message: 'The memory mine can only be searched by words, in one scope.',
        fix: { hint: 'Give a query, and for scopes other than shared a key such as agent:token:ci.' },
      })
    for (const [move, what] of [
      [() => service.export(), 'exported'],
      [() => service.import([], { by: 'ada' }), 'imported'],
    ] as const)
      await expect(move()).rejects.toMatchObject({
        ...{ code: 'CONFIG_INVALID', message: `The notes are stored by mine, so they cannot be ${what} here.` },
        fix: { hint: 'Use the tools of that service.' },
      })
    expect(await service.find('p1')).toBeUndefined()
  })
})

describe('a file of notes', () => {
  const good = { id: 'a', key: 'shared', content: 'x', createdAt: 1 }
  const whyNot = async (...lines: unknown[]) => {
    const { service } = open()
    const { bad } = await service.import(
      lines.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))),
      { by: 'ada' },
    )
    return bad
  }

  it.each<[string, unknown, string]>([
    ['is not JSON', '{', 'is not JSON'],
    ['is too long', 'x'.repeat(200_001), 'has 200001 characters, the limit is 200000'],
    ['is as long as it may be', 'x'.repeat(200_000), 'is not JSON'],
    ['has another key', { ...good, more: 1 }, 'the line: Unrecognized key: "more"'],
    ['has an odd id', { ...good, id: '/a' }, 'id: letters, digits, . : _ -'],
    ['has an id that ends oddly', { ...good, id: 'a/' }, 'id: letters, digits, . : _ -'],
    ['has a long id', { ...good, id: 'a'.repeat(201) }, 'id: letters, digits, . : _ -'],
    ['has an unknown scope', { ...good, key: 'x' }, 'key: must be run:…, session:…, agent:… or shared'],
    ['has no scope', { ...good, key: '' }, 'key: Too small'],
    ['has a long scope', { ...good, key: `agent:${'x'.repeat(995)}` }, 'key: Too big'],
    ['has 101 tags', { ...good, tags: Array(101).fill('t') }, 'tags: Too big'],
    ['has half a time', { ...good, createdAt: 1.5 }, 'createdAt: Invalid input'],
    ['says nothing', { ...good, content: ' ' }, 'The note is empty.'],
  ])('with a line that %s says why', async (_, text, why) => {
    const [bad] = await whyNot('', text)
    expect(bad).toEqual({ line: 2, why: expect.stringContaining(why) })
  })

  it('may hold the longest names', async () => {
    expect(
      await whyNot(
        { ...good, id: 'a'.repeat(200) },
        { ...good, key: `agent:${'x'.repeat(994)}` },
        { ...good, id: 'b', tags: Array(100).fill('t') },
      ),
    ).toEqual([])
  })

  it('is given up after 1,000 lines that cannot be read', async () => {
    expect(await whyNot(...Array(1_002).fill('{'))).toHaveLength(1_000)
  })

  it('is recorded if it imported something', async () => {
    const { service, recorded, told } = open()
    const lines = [JSON.stringify(good)]
    await service.import(lines, { by: 'ada' })
    expect(await service.import(lines, { by: 'ada' })).toEqual({ imported: 0, known: 1, bad: [] })
    expect(recorded).toEqual([{ by: 'ada', change: 'memory-imported', subject: '1 notes' }])
    expect(told).toEqual([['memory', 'import']])
    expect(await service.find('a')).toMatchObject({
      ...{ createdAt: 1, updatedAt: 1, origin: { tainted: true, reviewed: false, importedBy: 'ada', at: 1 } },
    })
  })

  it('that is trusted says itself where its notes come from', async () => {
    const { service } = open()
    const origin = { tainted: true, reviewed: true, at: 9, caller: 'c' }
    const lines = [
      { ...good, updatedAt: 7 },
      { ...good, id: 'b', origin },
    ].map((each) => JSON.stringify(each))
    await service.import(lines, { by: 'ada', trusted: true })
    expect(await service.find('a')).toMatchObject({
      ...{ updatedAt: 7, origin: { tainted: false, reviewed: true, at: 1, importedBy: 'ada' } },
    })
    expect((await service.find('b'))!.origin).toEqual({ ...origin, importedBy: 'ada' })
  })
})
