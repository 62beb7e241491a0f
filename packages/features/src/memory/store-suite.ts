import type { StoreTests } from '@tool-hub/core'
import type { StoredCandidate } from './candidate-store.ts'
import type { StoredNote } from './store.ts'

const DAY_MS = 86_400_000
const NOW = 1_000 * DAY_MS

/** Notes of agents: kept, found by their words, ranked. */
export function memorySuite({ name, store, describe, it, expect }: StoreTests): void {
  const note = (id: string, text: string, more: Partial<StoredNote> = {}): StoredNote => {
    const { createdAt = NOW } = more
    return {
      id,
      scope: 'shared',
      text,
      tags: [],
      origin: '{"tainted":false}',
      createdAt,
      updatedAt: createdAt,
      ...more,
    }
  }
  const fill = async (texts: Readonly<Record<string, string>>, more: Partial<StoredNote> = {}) => {
    for (const [id, text] of Object.entries(texts)) await store().memory.add(note(id, text, more))
  }
  const search = async (text: string, more: { scopes?: string[] | 'all'; tags?: string[]; limit?: number } = {}) => {
    const query = { scopes: ['shared'], tags: [], limit: 10, now: NOW, ...more }
    return (await store().memory.search({ ...query, text })).map((found) => found.note.id)
  }

  describe(`the notes of ${name}`, () => {
    it('are kept once, replaced, listed by the last written, and removed', async () => {
      const first = note('a', 'tea', { tags: ['drink'], scope: 'agent:x' })
      expect(await store().memory.add(first)).toBe(true)
      expect(await store().memory.add(note('a', 'another'))).toBe(false)
      expect(await store().memory.find('a')).toEqual(first)
      await fill({ b: 'milk', c: 'juice' })
      const changed = note('a', 'green tea', { scope: 'shared', updatedAt: NOW + 1 })
      expect(await store().memory.replace(changed)).toBe(true)
      expect(await store().memory.replace(note('z', 'nothing'))).toBe(false)
      expect(await store().memory.find('a')).toEqual(changed)
      const all = await store().memory.list({ limit: 10 })
      expect(all.map(({ id }) => id)).toEqual(['a', 'c', 'b'])
      expect((await store().memory.list({ before: all[0]!.seq, limit: 1 })).map(({ id }) => id)).toEqual(['c'])
      expect(await search('tea', { scopes: ['agent:x'] })).toEqual([])
      expect(await store().memory.remove('a')).toBe(true)
      expect(await store().memory.remove('a')).toBe(false)
      expect(await store().memory.find('a')).toBeUndefined()
      expect(await search('tea')).toEqual([])
    })

    it('are found in the scopes that were asked for and in no other', async () => {
      for (const scope of ['agent:a', 'agent:b', 'shared', 'run:1'])
        await fill({ [scope]: 'the coffee machine' }, { scope })
      expect((await search('coffee', { scopes: ['agent:a', 'shared', 'run:2'] })).sort()).toEqual(['agent:a', 'shared'])
      expect(await search('coffee', { scopes: ['agent:'] })).toEqual([])
      expect(await search('coffee', { scopes: 'all' })).toHaveLength(4)
      const agents = await store().memory.list({ scopePrefix: 'agent:', limit: 10 })
      expect(agents.map(({ id }) => id)).toEqual(['agent:b', 'agent:a'])
      expect((await store().memory.list({ scope: 'run:1', limit: 10 })).map(({ id }) => id)).toEqual(['run:1'])
      await fill({ second: 'tea', third: 'tea' }, { scope: 'run:1' })
      expect(await store().memory.removeScope('run:1')).toBe(3)
      expect(await search('coffee', { scopes: 'all' })).toHaveLength(3)
      expect(await store().memory.removeScope('agent:a')).toBe(1)
      expect(await store().memory.removeScope('agent:a')).toBe(0)
      expect(await search('coffee', { scopes: ['agent:a'] })).toEqual([])
    })

    it('are found whatever the case, the accents, the width and the number, and by part of what is asked', async () => {
      await fill({ de: 'Überall CAFÉS', wide: 'ＡＰＩ　ｋｅｙｓ rotate', none: 'tea' })
      expect(await search('uberall café')).toEqual(['de'])
      expect(await search('What is the api key?')).toEqual(['wide'])
      expect(await search('api nowhere')).toEqual(['wide'])
      expect(await search('nothing at all')).toEqual([])
    })

    it('are found in Chinese, Japanese and Korean, where no blanks tell words apart', async () => {
      await fill({
        zh: '用户喜欢在北京喝咖啡',
        ja: '東京タワーの近くで会議をする',
        ko: '사용자는 서울에서 회의를 한다',
        mixed: 'deploy到北京的服务器',
      })
      expect(await search('咖啡')).toEqual(['zh'])
      expect((await search('北京')).sort()).toEqual(['mixed', 'zh'])
      expect(await search('タワー')).toEqual(['ja'])
      expect(await search('会議')).toEqual(['ja'])
      expect(await search('서울')).toEqual(['ko'])
      expect(await search('塔')).toEqual([])
      expect(await search('喝')).toEqual(['zh'])
      expect(await search('deploy 服务器')).toEqual(['mixed'])
    })

    it('take no word for syntax', async () => {
      await fill({ plain: 'or near and not words', quote: 'say "hello" (world)*' })
      for (const text of [
        '" OR 1=1 --',
        'words:"',
        'NEAR(',
        'a* AND',
        '^',
        "'; DROP TABLE memory_notes;",
        '-not',
        '}{',
      ])
        await search(text)
      expect(await search('NOT "words')).toContain('plain')
      expect(await search('hello AND world')).toContain('quote')
      expect(await store().memory.list({ limit: 9 })).toHaveLength(2)
    })

    it('come best first: by their words, then by age and by tags', async () => {
      await fill({ much: 'staging server, staging host, staging', some: 'the staging server and much else is here' })
      expect(await search('staging')).toEqual(['much', 'some'])
      await fill({ old: 'deploy on friday' }, { createdAt: NOW - 365 * DAY_MS })
      await fill({ new: 'deploy on friday' })
      await fill({ older: 'deploy on friday' }, { createdAt: NOW - 400 * DAY_MS })
      expect(await search('deploy friday')).toEqual(['new', 'old', 'older'])
      await fill({ tagged: 'use the blue button' }, { tags: ['Interface'], createdAt: NOW - 90 * DAY_MS })
      await fill({ untagged: 'use the blue interface' }, { createdAt: NOW - 90 * DAY_MS })
      expect(await search('blue interface')).toEqual(['tagged', 'untagged'])
      const rare = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`n${n}`, `meeting ${n}`]))
      await fill({ zebra: 'zebra', ...rare })
      expect((await search('zebra meeting'))[0]).toBe('zebra')
    })

    it('can be asked for by their tags, with words and without', async () => {
      await fill({ a: 'port 80' }, { tags: ['Web Server', 'ports'] })
      await fill({ b: 'port 5432' }, { tags: ['database'] })
      await fill({ c: 'port 22' })
      expect(await search('port', { tags: ['web server'] })).toEqual(['a'])
      expect((await search('port', { tags: ['WEB SERVER', 'database'] })).sort()).toEqual(['a', 'b'])
      expect(await search('?', { tags: ['database'] })).toEqual(['b'])
      expect(await search('port', { tags: ['server'] })).toEqual([])
      expect(await search('database')).toEqual(['b'])
    })

    it('give the newest to a search without words, and no more than asked', async () => {
      for (let n = 0; n < 5; n++) await fill({ [`n${n}`]: `note ${n}` }, { createdAt: NOW + n })
      expect(await search('?!', { limit: 2 })).toEqual(['n4', 'n3'])
      expect(await search('note', { limit: 3 })).toHaveLength(3)
      for (let n = 0; n < 3; n++) await fill({ [`x${n}`]: 'note' }, { scope: 'agent:x', createdAt: NOW })
      await fill({ last: 'note' })
      const two = { scopes: ['agent:x', 'shared'], limit: 2 }
      expect((await search('?', two)).sort()).toEqual(['last', 'x2'])
      expect(await search('?', { scopes: 'all', limit: 1 })).toEqual(['last'])
      expect(await search('?', { scopes: [], limit: 2 })).toEqual([])
      expect(await search('note', { scopes: [] })).toEqual([])
      expect(await search('?', { tags: ['none'] })).toEqual([])
      await expect(async () => search('x'.repeat(2_001))).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
    })

    it('find the nearest by their vectors, in the scopes and with the tags that were asked for', async () => {
      const put = (id: string, numbers: number[], more: Partial<StoredNote> = {}) =>
        store().memory.add(note(id, id, more), { vector: Float32Array.from(numbers) })
      await put('east', [1, 0])
      await put('north', [0, 1], { tags: ['up'] })
      await put('hidden', [1, 0], { scope: 'agent:b' })
      await put('other', [1, 0, 0])
      await fill({ none: 'without' })
      const nearest = async (vector: number[], tags: string[] = []) => {
        const query = { scopes: ['shared'], tags, limit: 5, vector: Float32Array.from(vector) }
        return (await store().memory.nearest(query)).map((found) => found.note.id)
      }
      expect(await nearest([0.8, 0.6])).toEqual(['east', 'north'])
      expect(await nearest([0.8, 0.6], ['up'])).toEqual(['north'])
      await store().memory.replace(note('east', 'moved'), { vector: Float32Array.from([0, 1]) })
      await store().memory.remove('north')
      expect(await nearest([0, 1])).toEqual(['east'])
      expect(await nearest([1, 0])).toEqual([])
    })

    it('give the nearest first with how near they are, no more than asked, and by tags before they are counted', async () => {
      const put = (id: string, numbers: number[], tags: string[] = [], scope = 'shared') =>
        store().memory.add(note(id, id, { tags, scope }), { vector: Float32Array.from(numbers) })
      await put('far', [0.25, 0], ['rare'])
      await put('near', [1, 0])
      await put('middle', [0.5, 0])
      await put('away', [-1, 0])
      await put('across', [0, 1])
      await put('elsewhere', [0.75, 0], [], 'agent:x')
      const nearest = async (limit: number, more: object = {}) => {
        const query = { scopes: ['shared'], tags: [], limit, vector: Float32Array.from([1, 0]), ...more }
        return (await store().memory.nearest(query)).map((found) => `${found.note.id} ${found.score}`)
      }
      expect(await nearest(9)).toEqual(['near 1', 'middle 0.5', 'far 0.25'])
      expect(await nearest(2)).toEqual(['near 1', 'middle 0.5'])
      expect(await nearest(1, { tags: ['rare'] })).toEqual(['far 0.25'])
      expect(await nearest(2, { scopes: 'all' })).toEqual(['near 1', 'elsewhere 0.75'])
      expect(await nearest(2, { scopes: ['agent:x', 'shared'] })).toEqual(['near 1', 'elsewhere 0.75'])
    })

    it('are bounded in each scope, and a note that is replaced needs no more room', async () => {
      const two = { maxInScope: 2 }
      for (const id of ['a', 'b']) await store().memory.add(note(id, id), two)
      await expect(async () => store().memory.add(note('c', 'c'), two)).rejects.toMatchObject({
        code: 'BUDGET_EXCEEDED',
        message: expect.stringContaining('holds 2 notes'),
      })
      expect((await store().memory.list({ limit: 9 })).map(({ id }) => id)).toEqual(['b', 'a'])
      expect(await store().memory.add(note('c', 'c', { scope: 'agent:x' }), two)).toBe(true)
      expect(await store().memory.replace(note('a', 'again'), two)).toBe(true)
      await expect(async () => store().memory.replace(note('c', 'c'), two)).rejects.toMatchObject({
        code: 'BUDGET_EXCEEDED',
      })
      expect(await store().memory.find('c')).toMatchObject({ scope: 'agent:x' })
      await store().memory.remove('b')
      expect(await store().memory.add(note('d', 'd'), two)).toBe(true)
    })
  })

  describe(`the notes for review of ${name}`, () => {
    const candidate = (id: string, of: string, at: number): StoredCandidate => {
      const origin = { run: of, tainted: true, reviewed: false, at }
      return {
        ...{ id, run: of, state: 'waiting', at },
        note: { id, run: of, scope: 'shared', key: 'shared', content: id, tags: ['x'], origin },
      }
    }
    const idsOf = async (filter: { run?: string; state?: 'waiting' | 'promoted'; limit?: number } = {}) =>
      (await store().memoryCandidates.list({ limit: 9, ...filter })).map(({ id }) => id)

    it('are bounded in each run, listed newest first, and decided on once', async () => {
      const { memoryCandidates } = store()
      const two = { maxInRun: 2 }
      for (const [id, of, at] of [
        ['a', 'r1', 1],
        ['b', 'r1', 3],
        ['c', 'r2', 2],
      ] as const)
        expect(await memoryCandidates.add(candidate(id, of, at), two)).toBe(undefined)
      expect(await memoryCandidates.add(candidate('d', 'r1', 4), two)).toBe(2)
      expect(await memoryCandidates.find('a')).toEqual(candidate('a', 'r1', 1))
      expect(await memoryCandidates.find('d')).toBe(undefined)
      expect([await idsOf(), await idsOf({ run: 'r1' }), await idsOf({ limit: 1 })]).toEqual([
        ['b', 'c', 'a'],
        ['b', 'a'],
        ['b'],
      ])
      const review = { id: 'b', decision: 'promoted' as const, by: 'ada', at: 5, note: 'note-b' }
      expect(await memoryCandidates.review('b', review)).toBe(true)
      expect(await memoryCandidates.review('b', { ...review, decision: 'rejected' })).toBe(false)
      expect(await memoryCandidates.review('z', { ...review, id: 'z' })).toBe(false)
      expect(await memoryCandidates.find('b')).toEqual({ ...candidate('b', 'r1', 3), state: 'promoted', review })
      expect([await idsOf({ state: 'waiting' }), await idsOf({ state: 'promoted' })]).toEqual([['c', 'a'], ['b']])
    })
  })
}
