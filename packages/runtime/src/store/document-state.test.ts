import type { DocumentStore, Store } from '@tool-hub/core'
import { openStore } from '@tool-hub/library/stores'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { sealDocument } from './document-seal.ts'
import { DocumentState } from './document-state.ts'

const schema = z.strictObject({ items: z.array(z.string()) })
const EMPTY: z.infer<typeof schema> = { items: [] }
const KEY = '0123456789abcdef'.repeat(4)
const OTHER_KEY = 'fedcba9876543210'.repeat(4)

let folder = ''
beforeEach(() => {
  vi.stubEnv('TOOL_HUB_KEY', '')
  folder = temporaryFolder('document-state')
})
afterEach(() => void vi.unstubAllEnvs())

/** A process of its own, as far as the store can tell. */
function connect(): Store {
  const store = openStore(folder)
  onTestFinished(() => store.close())
  return store
}

const open = (documents: DocumentStore, first?: () => typeof EMPTY) =>
  new DocumentState({ documents, name: 'list', schema, empty: EMPTY, first, what: 'The items', hint: 'Ask somebody.' })
const sealed = (documents: DocumentStore, name = 'list') => {
  const seal = sealDocument({ what: 'The items', name, hint: 'Use the key of the others.', keyFolder: undefined })
  return new DocumentState({ documents, name, schema, empty: EMPTY, what: 'The items', hint: 'Ask somebody.', seal })
}
const add = (state: DocumentState<typeof EMPTY>, item: string) =>
  state.use((each) => each.update(({ items }) => ({ items: [...items, item] })))
const items = (state: DocumentState<typeof EMPTY>) => state.use((each) => each.read().items)

describe('a shared state', () => {
  it('is what any process has stored last', async () => {
    const [one, other] = [open(connect().documents), open(connect().documents)]
    expect(await items(one)).toEqual([])
    await add(one, 'a')
    await add(other, 'b')
    expect(await items(one)).toEqual(['a', 'b'])
    expect(await items(open(connect().documents))).toEqual(['a', 'b'])
  })

  it('loses nothing when several processes change it at the same time, and the work sees what it changes', async () => {
    const states = Array.from({ length: 4 }, () => open(connect().documents))
    const added = states.flatMap((state, index) => [1, 2, 3, 4, 5].map((each) => add(state, `${index}-${each}`)))
    for (const { items } of await Promise.all(added)) expect(items.length).toBeGreaterThan(0)
    const all = await items(states[0]!)
    expect([new Set(all).size, all.length]).toEqual([20, 20])
  })

  it('is written only when it changes, and read only when it has changed', async () => {
    const { documents } = connect()
    const [read, write] = [vi.fn(documents.read), vi.fn(documents.write)]
    const state = open({ read, write })
    await items(state)
    await state.use((each) => each.update((before) => before))
    expect(write).not.toHaveBeenCalled()
    await add(state, 'a')
    await items(state)
    await items(state)
    expect(write).toHaveBeenCalledTimes(1)
    expect(await read.mock.results.at(-1)?.value).toEqual({ revision: 1 })
  })

  it('gives up when others are always faster', async () => {
    const { documents } = connect()
    const state = open({ read: documents.read, write: () => false })
    await expect(add(state, 'a')).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'The items were changed by other processes 30 times in a row.',
      retryable: true,
    })
  })

  it('begins with what this machine knows, until there is a document', async () => {
    const [one, other] = [connect().documents, connect().documents]
    expect(await items(open(one, () => ({ items: ['mine'] })))).toEqual(['mine'])
    expect(await items(open(other, () => ({ items: ['yours'] })))).toEqual(['mine'])
    await open(one).use((each) => each.update(() => ({ items: [] })))
    expect(await items(open(other, () => ({ items: ['yours'] })))).toEqual([])
  })

  it('is not overwritten when it cannot be read', async () => {
    const { documents } = connect()
    for (const [index, body] of ['{', '{"items":[1]}', '{"items":[],"more":1}'].entries()) {
      await documents.write('list', body, index)
      await expect(add(open(documents), 'a')).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining('The items in the store (list) cannot be used: '),
        fix: { hint: 'Ask somebody.' },
      })
      expect(await documents.read('list')).toEqual({ revision: index + 1, body })
    }
  })

  it('that is too large is refused, and stays as it was', async () => {
    const { documents } = connect()
    const state = open(documents)
    await add(state, 'a')
    await expect(add(state, 'x'.repeat(4_000_000))).rejects.toMatchObject({ code: 'FILE_TOO_LARGE' })
    expect(await items(state)).toEqual(['a'])
  })
})

describe('a sealed state', () => {
  it('is readable with the key alone, and only in its own place', async () => {
    vi.stubEnv('TOOL_HUB_KEY', KEY)
    const { documents } = connect()
    await add(sealed(documents), 'hush-hush')
    const { body } = (await documents.read('list'))!
    expect(body).toMatch(/^tool-hub sealed 1\n/)
    expect(body).not.toContain('hush')
    expect(await items(sealed(connect().documents))).toEqual(['hush-hush'])
    await documents.write('other', body!, 0)
    await expect(items(sealed(documents, 'other'))).rejects.toThrow('it was changed, or written with another key')
  })

  it('with another key is neither read nor overwritten', async () => {
    vi.stubEnv('TOOL_HUB_KEY', KEY)
    const { documents } = connect()
    await add(sealed(documents), 'a')
    const before = await documents.read('list')
    vi.stubEnv('TOOL_HUB_KEY', OTHER_KEY)
    const closed = {
      code: 'CONFIG_INVALID',
      message: 'The items in the store (list) cannot be used: it was changed, or written with another key',
      fix: { hint: 'Use the key of the others.' },
    }
    await expect(items(sealed(documents))).rejects.toMatchObject(closed)
    await expect(add(sealed(documents), 'b')).rejects.toMatchObject(closed)
    expect(await documents.read('list')).toEqual(before)
    vi.stubEnv('TOOL_HUB_KEY', KEY)
    expect(await items(sealed(documents))).toEqual(['a'])
  })

  it('without a key is not stored, and says what to do', async () => {
    const { documents } = connect()
    expect(await items(sealed(documents))).toEqual([])
    const missing = {
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(
        'TOOL_HUB_KEY is not set. The items are encrypted with it in a store that several machines share.',
      ),
      fix: { hint: 'Set TOOL_HUB_KEY to the same key on all machines; make one: openssl rand -base64 32.' },
    }
    await expect(add(sealed(documents), 'a')).rejects.toMatchObject(missing)
    expect(await documents.read('list')).toBeUndefined()
    vi.stubEnv('TOOL_HUB_KEY', KEY)
    await add(sealed(documents), 'a')
    vi.stubEnv('TOOL_HUB_KEY', '')
    await expect(items(sealed(documents))).rejects.toMatchObject(missing)
  })

  it('that nobody can read any more is discarded on request', async () => {
    vi.stubEnv('TOOL_HUB_KEY', KEY)
    const { documents } = connect()
    expect(await sealed(documents).discard()).toBe(false)
    await add(sealed(documents), 'a')
    vi.stubEnv('TOOL_HUB_KEY', OTHER_KEY)
    expect(await sealed(documents).discard()).toBe(true)
    expect(await items(sealed(documents))).toEqual([])
  })
})
