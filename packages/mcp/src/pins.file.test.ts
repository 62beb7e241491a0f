import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pinsOf, readDocument, sourceStore } from '../../../test/support/source-store.ts'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { prepareDataFolder } from '../../sandbox/src/system/data-folder.ts'
import type { ServerToolDefinition } from './definitions.ts'
import { hashDefinition } from './definitions.ts'
import { partsOf, pinnedDefinition } from './drift.ts'

const NOW = new Date('2026-11-15T00:00:00Z')
const define = (tool: string, description: string): ServerToolDefinition => {
  const definition = { tool, title: 'T', description, input: { a: 1 }, output: { b: 2 }, annotations: { c: 3 } }
  return { ...definition, hash: hashDefinition(definition) }
}

/** A data folder with the file of tool-hub 0.1.0 about one tool, as the test changed it. */
async function withFile(change: (pin: Record<string, unknown>, file: Record<string, unknown>) => void) {
  const before = temporaryFolder('pins-before')
  const pins = pinsOf(before)
  await pins.review('s', [define('add', 'Adds.')], NOW)
  await pins.review('s', [define('add', 'Other.')], NOW)
  const file = JSON.parse((await readDocument(before, 'mcp-pins/s'))!)
  change(file.pins[0], file)
  const data = temporaryFolder('pins-file')
  prepareDataFolder(data)
  writeFileSync(join(data, 'mcp-pins.json'), JSON.stringify(file), { mode: 0o600 })
  return data
}

describe('the file of the pins of tool-hub 0.1.0', () => {
  it('is taken over: what was seen, when, and what changed', async () => {
    const data = await withFile(() => {})
    const at = NOW.toISOString()
    const parts = {
      title: 'T',
      description: 'Adds.',
      input: '{\n "a": 1\n}',
      output: '{\n "b": 2\n}',
      annotations: '{\n "c": 3\n}',
    }
    const [hash, changed] = ['Adds.', 'Other.'].map((description) => define('add', description).hash)
    expect(await pinsOf(data).list('s')).toEqual([
      {
        server: 's',
        tool: 'add',
        hash,
        at,
        parts,
        drifted: { hash: changed, at, parts: { ...parts, description: 'Other.' } },
      },
    ])
  })

  it.each<[string, Parameters<typeof withFile>[0]]>([
    ['a hash that is too short', (pin) => (pin.hash = 'a'.repeat(63))],
    ['a hash with something before it', (pin) => (pin.hash = `x${'a'.repeat(64)}`)],
    ['a hash with something behind it', (pin) => (pin.hash = `${'a'.repeat(64)}x`)],
    ['a part of no definition', (pin) => (pin.parts = { other: 'x' })],
    ['a part that is not a text', (pin) => (pin.parts = { title: 1 })],
    ['no time', (pin) => delete pin.at],
    ['no server', (pin) => delete pin.server],
    ['no tool', (pin) => delete pin.tool],
    ['isNew that is false', (pin) => (pin.isNew = false)],
    ['a change without a hash', (pin) => (pin.drifted = { parts: {}, at: '' })],
    ['a field that nobody knows', (pin) => (pin.other = 1)],
    ['another version', (_, file) => (file.version = 2)],
    ['no pins', (_, file) => delete file.pins],
  ])('is not used with %s', async (_, change) => {
    const data = await withFile(change)
    await expect(pinsOf(data).list('s')).rejects.toThrow(
      expect.objectContaining({
        message: expect.stringContaining('The pinned definitions of MCP tools'),
        fix: expect.objectContaining({
          hint: 'Correct or delete the file; without it, tools are pinned as they are seen next.',
        }),
      }),
    )
  })

  it('is read until there is a document, which is not written where nothing changes', async () => {
    const data = await withFile(() => {})
    const { documents } = sourceStore(data)
    const pins = pinsOf(data)
    await pins.review('s', [define('add', 'Other.')], NOW)
    expect(await documents.read('mcp-pins/s')).toMatchObject({ revision: 1 })
    rmSync(join(data, 'mcp-pins.json'))
    expect((await pins.review('s', [define('add', 'Other.')], NOW)).drifts.size).toBe(1)
    await pins.accept('other')
    expect(await pinsOf(data).forget('other')).toBe(0)
    expect(await documents.read('mcp-pins/s')).toMatchObject({ revision: 1 })
    expect(await documents.read('mcp-pins/other')).toBeUndefined()
  })

  it('does not bring back what was forgotten', async () => {
    const data = await withFile(() => {})
    expect(await pinsOf(data).forget('s')).toBe(1)
    expect(await pinsOf(data).list('s')).toEqual([])
  })

  it('shows what a new tool says now, and what changed in one that changes again', async () => {
    const data = temporaryFolder('pins-file')
    const pins = pinsOf(data)
    await pins.review('s', [define('add', 'Adds.')], NOW)
    const { added } = await pins.review('s', [define('add', 'Adds.'), define('sub', 'New.')], NOW)
    expect(added.get('sub')).toEqual({
      before: {},
      after: partsOf(define('sub', 'New.')),
      hash: define('sub', 'New.').hash,
      isNew: true,
    })
    for (const description of ['One.', 'Two.']) {
      const drift = (await pins.review('s', [define('add', description)], NOW)).drifts.get('add')!
      expect(drift).toMatchObject({
        hash: define('add', description).hash,
        after: { description },
        pinned: { description: 'Adds.' },
      })
    }
    expect(await pins.accept('s')).toEqual(['add', 'sub'])
    expect(
      (await pins.list('s')).map(({ tool, isNew, drifted, parts }) => [tool, isNew, drifted, parts.description]),
    ).toEqual([
      ['add', undefined, undefined, 'Two.'],
      ['sub', undefined, undefined, 'New.'],
    ])
  })
})

describe('a pinned definition', () => {
  it('is whole or not known', async () => {
    const whole = define('add', 'Adds.')
    const pin = { hash: whole.hash, parts: partsOf(whole) }
    expect(pinnedDefinition('add', pin)).toEqual(whole)
    expect(pinnedDefinition('sub', pin)).toBeUndefined()
    for (const part of Object.keys(pin.parts)) {
      const { [part as 'title']: _, ...parts } = pin.parts
      expect(pinnedDefinition('add', { ...pin, parts })).toBeUndefined()
    }
    expect(pinnedDefinition('add', { ...pin, parts: { ...pin.parts, input: '{' } })).toBeUndefined()
  })

  it('may be the least that a server says', async () => {
    const least = {
      tool: 'add',
      title: undefined,
      description: '',
      input: undefined,
      output: undefined,
      annotations: {},
    }
    const definition = { ...least, hash: hashDefinition(least) }
    expect(partsOf(definition)).toEqual({ description: '', annotations: '{}' })
    expect(pinnedDefinition('add', { hash: definition.hash, parts: {} })).toEqual(definition)
  })
})
