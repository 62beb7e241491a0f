import { ToolError } from '@tool-hub/core/errors'
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { type BackendUse, createProviderBackend } from './backend.ts'
import type { MemoryProvider } from './provider.ts'

const query = { query: 'q', keys: ['shared', 'agent:a'], limit: 60, tags: [] }
const note = { id: 'n1', content: 'Hi' }
const wish = { id: 'n1', key: 'shared', content: 'Hi', tags: [], origin: { tainted: false, reviewed: true, at: 1 } }

function open(provider: object) {
  const clock = fakeClock()
  const stop = new AbortController()
  const use = { signal: stop.signal } as BackendUse
  const backend = createProviderBackend(provider as MemoryProvider, { noteChars: 10, timeoutMs: 500 }, { clock })
  return { backend, clock, stop, use, recall: () => backend.recall(query, use) }
}
const giving = (...notes: unknown[]) => open({ recall: async () => notes })

describe('notes of a provider', () => {
  it('are filled up, cut, and taken for what strangers say', async () => {
    const { recall } = giving(
      note,
      { ...note, key: 'agent:a', content: '01234567890', tags: ['a\0'], createdAt: 5, score: 2 },
      { ...note, key: 'agent:other' },
    )
    expect(await recall()).toEqual([
      { id: 'n1', key: 'shared', content: 'Hi', tags: [], createdAt: 0, score: 0, isUntrusted: true },
      { id: 'n1', key: 'agent:a', content: '0123456789', tags: ['a\ufffd'], createdAt: 5, score: 2, isUntrusted: true },
    ])
    expect(await open({ trusted: true, recall: async () => [note] }).recall()).toMatchObject([{ isUntrusted: false }])
  })

  it('are at most 50, and at most as many as were wanted', async () => {
    const { recall, backend, use } = giving(...Array(60).fill(note))
    expect(await recall()).toHaveLength(50)
    expect(await backend.recall({ ...query, limit: 3 }, use)).toHaveLength(3)
  })

  it.each([
    ['an id of 200 characters', { id: 'x'.repeat(200) }],
    ['a text of a million characters', { content: 'x'.repeat(1_000_000) }],
    ['100 tags', { tags: Array(100).fill('t') }],
    ['a tag of 1,000 characters', { tags: ['x'.repeat(1_000)] }],
    ['a key of 1,000 characters', { key: 'x'.repeat(1_000) }],
  ])('may have %s', async (_, more) => {
    await expect(giving({ ...note, ...more }).recall()).resolves.toBeDefined()
  })

  it.each([
    ['no id', { id: '' }, '0.id: '],
    ['an id of 201 characters', { id: 'x'.repeat(201) }, '0.id: Too big'],
    ['an id that begins with a line break', { id: '\nx' }, '0.id: an id of visible characters'],
    ['an id that ends in a line break', { id: 'x\n' }, '0.id: an id of visible characters'],
    ['a text of over a million characters', { content: 'x'.repeat(1_000_001) }, '0.content: Too big'],
    ['101 tags', { tags: Array(101).fill('t') }, '0.tags: Too big'],
    ['a tag of 1,001 characters', { tags: ['x'.repeat(1_001)] }, '0.tags.0: Too big'],
    ['a key of 1,001 characters', { key: 'x'.repeat(1_001) }, '0.key: Too big'],
  ])('may not have %s', async (_, more, where) => {
    await expect(giving({ ...note, ...more }).recall()).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: expect.stringContaining(`The memory provider returned an invalid result: ${where}`),
      retryable: false,
      fix: { hint: 'docs/reference/memory.md describes what a provider returns.' },
    })
  })

  it('are at most 1,000 in an answer', async () => {
    expect(await giving(...Array(1_000).fill({ ...note, key: 'x' })).recall()).toEqual([])
    await expect(giving(...Array(1_001).fill(note)).recall()).rejects.toThrow('the result: Too big')
  })
})

describe('a provider', () => {
  it('is called by its name, and does what it can', async () => {
    const asked: unknown[] = []
    const say = (answer: unknown) => async (given: unknown) => {
      asked.push(given)
      return answer
    }
    const full = { name: 'mine', recall: say([]), write: say({ id: 'k1' }), update: say(undefined), forget: say(false) }
    const { backend, use, clock } = open(full)
    expect(backend.name).toBe('mine')
    expect(open({}).backend.name).toBe('provider')
    expect(await backend.write(wish, use)).toBe('k1')
    expect(await backend.update(wish, use)).toBe(true)
    expect(await backend.forget(wish, use)).toBe(false)
    expect(asked).toEqual([wish, wish, wish])
    expect(clock.waiting).toBe(0)
    await expect(open({ forget: say('yes') }).backend.forget(wish, use)).rejects.toThrow('the result: ')
    await expect(open({ write: say({}) }).backend.write(wish, use)).rejects.toThrow('id: ')
  })

  it.each(['write', 'update', 'forget'] as const)('that cannot %s says so', async (what) => {
    const { backend, use } = open({ name: 'mine' })
    await expect(backend[what](wish, use)).rejects.toMatchObject({
      code: 'TOOL_DISABLED',
      message: `The memory mine cannot ${what} notes.`,
      fix: { hint: 'The provider does not support it.' },
    })
  })

  it('that fails is reported in 500 characters, and its own errors stay', async () => {
    const failing = (error: Error) => open({ recall: () => Promise.reject(error) }).recall()
    const cause = new Error('x'.repeat(501))
    await expect(failing(cause)).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: `The memory provider failed to recall: ${'x'.repeat(500)}`,
      cause,
    })
    const own = new ToolError('CONFLICT', 'Busy.')
    await expect(failing(own)).rejects.toBe(own)
  })

  it('that takes too long is given up', async () => {
    const { recall, clock } = open({ recall: () => new Promise(() => {}) })
    const recalling = recall()
    recalling.catch(() => {})
    await clock.advance(499)
    expect(clock.waiting).toBe(1)
    await clock.advance(1)
    await expect(recalling).rejects.toMatchObject({
      code: 'HTTP_TIMEOUT',
      message: 'The memory provider did not recall within 500 ms.',
      fix: { key: 'memory.limits.timeout', hint: 'Try again, or ask the owner to raise the limit.' },
    })
  })

  it('is stopped with the call', async () => {
    const { recall, stop, clock } = open({ recall: () => new Promise(() => {}) })
    const recalling = recall()
    stop.abort(new Error('enough'))
    await expect(recalling).rejects.toThrow(/^enough$/)
    expect(clock.waiting).toBe(0)
  })
})
