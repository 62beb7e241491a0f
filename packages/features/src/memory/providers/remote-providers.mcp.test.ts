import { describe, expect, it } from 'vitest'
import type { McpMemory } from '../types.ts'
import type { ProviderUse } from './provider.ts'
import { createMcpProvider } from './remote-providers.ts'

const text = (...texts: string[]) => ({ content: texts.map((each) => ({ type: 'text', text: each })) })
const FULL = { server: 'kept', recall: 'find', write: 'keep', update: 'change', forget: 'drop' }

/** A provider whose tools answer as told. */
function open(data: unknown, mcp: McpMemory['mcp'] = FULL) {
  const calls: unknown[] = []
  const use = {
    signal: new AbortController().signal,
    call: async (tool: string, input: unknown) => {
      calls.push([tool, input])
      return data instanceof Error ? { ok: false, error: data } : { ok: true, data }
    },
  } as unknown as ProviderUse
  return { provider: createMcpProvider({ mcp }), use, calls }
}
const recalled = async (data: unknown, tags: string[] = []) => {
  const { provider, use, calls } = open(data)
  const notes = await provider.recall({ query: 'q', keys: ['shared'], limit: 5, tags }, use)
  return { notes, calls }
}
const note = { id: 'n1', key: 'shared', content: 'Hi', tags: ['a'], origin: { tainted: false, reviewed: true, at: 1 } }

describe('a memory of tools', () => {
  it('is asked for notes by words, scopes and tags', async () => {
    const wish = { query: 'q', scopes: ['shared'], limit: 5 }
    expect((await recalled({ notes: [] })).calls).toEqual([['mcp/kept.find', wish]])
    expect((await recalled({ notes: [] }, ['a'])).calls).toEqual([['mcp/kept.find', { ...wish, tags: ['a'] }]])
  })

  const notes = [{ id: 'm1', content: 'x' }]
  it.each<[string, unknown, unknown[]]>([
    ['notes', { notes }, notes],
    ['a list of notes', notes, notes],
    ['notes as JSON', text(JSON.stringify({ notes })), notes],
    ['notes beside a text', { ...text('other'), structuredContent: { notes } }, notes],
    ['texts', text('one', 'two'), [{ id: 'answer', content: 'one\ntwo' }]],
    ['other blocks', { content: [{ type: 'image' }, { type: 'text', text: 'x' }] }, [{ id: 'answer', content: 'x' }]],
    ['another form', { found: 1 }, [{ id: 'answer', content: '{"found":1}' }]],
    ['a long text', text('x'.repeat(200_001)), [{ id: 'answer', content: 'x'.repeat(200_000) }]],
    ['a thousand notes', { notes: Array(1_000).fill(1) }, Array(1_000).fill(1)],
    ['blanks', text(' \n'), []],
    ['nothing', undefined, []],
    ['an empty text', '', []],
    ['no blocks', { content: [] }, []],
  ])('that answers %s has found notes', async (_, data, found) => {
    expect((await recalled(data)).notes).toEqual(found)
  })

  it('takes more than a thousand notes for a text', async () => {
    expect((await recalled({ notes: Array(1_001).fill(1) })).notes).toMatchObject([{ id: 'answer' }])
  })

  it('keeps, changes and forgets notes by the names of the owner', async () => {
    const { provider, use, calls } = open({ id: 'k1', forgotten: false })
    expect(await provider.write!(note, use)).toEqual({ id: 'k1' })
    await provider.update!({ ...note, tags: undefined }, use)
    await provider.update!({ ...note, content: undefined }, use)
    expect(await provider.forget!(note, use)).toBe(false)
    expect(calls).toEqual([
      ['mcp/kept.keep', { id: 'n1', scope: 'shared', content: 'Hi', tags: ['a'] }],
      ['mcp/kept.change', { id: 'n1', scope: 'shared', content: 'Hi' }],
      ['mcp/kept.change', { id: 'n1', scope: 'shared', tags: ['a'] }],
      ['mcp/kept.drop', { id: 'n1', scope: 'shared' }],
    ])
    const named = open({}, { ...FULL, write: { tool: 'put', arguments: { content: 'text', scope: 'where' } } })
    await named.provider.write!(note, named.use)
    expect(named.calls).toEqual([['mcp/kept.put', { text: 'Hi', where: 'shared' }]])
  })

  it('that returns nothing has stored the note under the same id', async () => {
    for (const data of [undefined, text('done'), { id: '' }]) {
      const { provider, use } = open(data)
      expect(await provider.write!(note, use)).toEqual({ id: 'n1' })
      expect(await provider.forget!(note, use)).toBe(true)
    }
    const one = open({ id: 'x' })
    expect(await one.provider.write!(note, one.use)).toEqual({ id: 'x' })
  })

  it('can only what the owner named a tool for', () => {
    const { provider } = open({}, { server: 'kept', recall: 'find' })
    expect(provider.name).toBe('mcp:kept')
    expect(Object.keys(provider).sort()).toEqual(['name', 'recall'])
    expect(Object.keys(open({}).provider).sort()).toEqual(['forget', 'name', 'recall', 'update', 'write'])
  })

  it('that fails says so with what to do', async () => {
    const error = Object.assign(new Error('No.'), {
      code: 'POLICY_DENIED',
      fix: { key: 'k', hint: 'h' },
      retryable: true,
    })
    await expect(recalled(error)).rejects.toMatchObject({
      ...{ code: 'POLICY_DENIED', message: 'The memory mcp:kept failed: No.', fix: { key: 'k', hint: 'h' } },
      retryable: true,
    })
  })
})
