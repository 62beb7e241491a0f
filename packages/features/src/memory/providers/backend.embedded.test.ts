import type { FeatureHost } from '@tool-hub/core/feature'
import { createMemoryStore } from '@tool-hub/library/stores'
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { readSettings } from '../memory-settings.ts'
import { type BackendUse, createEmbeddedBackend } from './backend.ts'

function open(embed?: (texts: readonly string[]) => Promise<number[][]>) {
  const clock = fakeClock(1_000)
  const store = createMemoryStore({ now: () => clock.now() })
  const asked: unknown[] = []
  for (const name of ['search', 'nearest'] as const) {
    const look = store.memory[name] as (query: object) => unknown
    store.memory[name] = ((query: { limit: number }) => {
      asked.push([name, query.limit])
      return look.call(store.memory, query)
    }) as never
  }
  const host = { store, clock } as unknown as FeatureHost
  const backend = createEmbeddedBackend(readSettings({ ...(embed && { embed }), limits: { notesPerScope: 3 } }), host)
  const use = { signal: new AbortController().signal, notice() {} } as unknown as BackendUse
  const origin = { tainted: false, reviewed: false, at: 500 }
  const write = (id: string, content: string) => backend.write({ id, key: 'shared', content, tags: ['t'], origin }, use)
  const recall = (query: string, limit = 5) => backend.recall({ query, keys: ['shared'], limit, tags: [] }, use)
  return { backend, use, write, recall, asked, origin, clock }
}

describe('notes in the store of the hub', () => {
  it('are found by their words', async () => {
    const { write, recall, asked } = open()
    expect(await write('a', 'green tea')).toBe('a')
    expect(await recall('tea')).toEqual([
      {
        ...{ id: 'a', key: 'shared', content: 'green tea', tags: ['t'], createdAt: 500, isUntrusted: false },
        score: expect.any(Number),
      },
    ])
    expect(asked).toEqual([['search', 5]])
  })

  it('are found by meaning and words, 50 of each or as many as are wanted', async () => {
    const { write, recall, asked } = open(async ([text]) => [text!.includes('cat') || text === 'pet' ? [1, 0] : [0, 1]])
    await write('a', 'a cat')
    await write('b', 'a stone')
    const [first] = await recall('pet')
    expect(first).toMatchObject({ id: 'a' })
    expect(first!.score).toBeCloseTo(1 / 61, 6)
    expect(await recall('stone cat', 1)).toHaveLength(1)
    await recall('pet', 60)
    expect(asked.filter((_, index) => index < 2 || index > 3)).toEqual([
      ...[
        ['search', 50],
        ['nearest', 50],
        ['search', 60],
        ['nearest', 60],
      ],
    ])
  })

  it('are found by the meaning of what they say now', async () => {
    const { backend, write, recall, use, origin } = open(async ([text]) => [
      text!.includes('cat') || text === 'pet' ? [1, 0] : [0, 1],
    ])
    await write('a', 'a stone')
    await write('b', 'a hill')
    await backend.update({ id: 'b', key: 'shared', content: 'a cat', origin }, use)
    expect((await recall('pet')).map(({ id }) => id)).toEqual(['b'])
  })

  it('are changed and forgotten under their key only', async () => {
    const { backend, write, use, origin, clock } = open()
    await write('a', 'one')
    const change = { id: 'a', key: 'shared', origin: { ...origin, tainted: true } }
    expect(await backend.update({ ...change, key: 'agent:x', content: 'two' }, use)).toBe(false)
    expect(await backend.update({ ...change, id: 'none', content: 'two' }, use)).toBe(false)
    await clock.advance(5)
    expect(await backend.update({ ...change, content: 'two' }, use)).toBe(true)
    expect(await backend.own!.find('a')).toMatchObject({
      ...{ content: 'two', tags: ['t'], createdAt: 500, updatedAt: 1_005, origin: { tainted: true } },
    })
    expect(await backend.forget({ id: 'a', key: 'agent:x' }, use)).toBe(false)
    expect(await backend.forget({ id: 'a', key: 'shared' }, use)).toBe(true)
    expect(await backend.own!.find('a')).toBeUndefined()
  })

  it('are at most as many in a scope as the owner says', async () => {
    const { write } = open()
    for (const id of ['a', 'b', 'c']) await write(id, id)
    await expect(write('d', 'd')).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' })
  })
})
