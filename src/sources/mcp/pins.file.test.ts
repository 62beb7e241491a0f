import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import type { ServerToolDefinition } from './definitions.ts'
import { hashDefinition, partsOf, pinnedDefinition } from './drift.ts'
import { Pins } from './pins.ts'

const NOW = new Date('2026-11-15T00:00:00Z')
const define = (tool: string, description: string): ServerToolDefinition => {
  const definition = { tool, title: 'T', description, input: { a: 1 }, output: { b: 2 }, annotations: { c: 3 } }
  return { ...definition, hash: hashDefinition(definition) }
}

/** Pins one tool, and writes the file again as the test changed it. */
function withFile(change: (pin: Record<string, unknown>, file: Record<string, unknown>) => void) {
  const data = temporaryFolder('pins-file')
  const pins = new Pins(data)
  pins.review('s', [define('add', 'Adds.')], NOW)
  pins.review('s', [define('add', 'Other.')], NOW)
  const path = join(data, 'mcp-pins.json')
  const file = JSON.parse(readFileSync(path, 'utf8'))
  change(file.pins[0], file)
  writeFileSync(path, JSON.stringify(file))
  return data
}

describe('the file of the pins', () => {
  it('holds what was seen, when, and what changed', () => {
    const data = withFile(() => {})
    const at = NOW.toISOString()
    const parts = {
      title: 'T',
      description: 'Adds.',
      input: '{\n "a": 1\n}',
      output: '{\n "b": 2\n}',
      annotations: '{\n "c": 3\n}',
    }
    const [hash, changed] = ['Adds.', 'Other.'].map((description) => define('add', description).hash)
    expect(new Pins(data).list()).toEqual([
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
    ['a part that is no text', (pin) => (pin.parts = { title: 1 })],
    ['no time', (pin) => delete pin.at],
    ['no server', (pin) => delete pin.server],
    ['no tool', (pin) => delete pin.tool],
    ['isNew that is false', (pin) => (pin.isNew = false)],
    ['a change without a hash', (pin) => (pin.drifted = { parts: {}, at: '' })],
    ['a field that nobody knows', (pin) => (pin.other = 1)],
    ['another version', (_, file) => (file.version = 2)],
    ['no pins', (_, file) => delete file.pins],
  ])('is not used with %s', (_, change) => {
    expect(() => new Pins(withFile(change)).list()).toThrow(
      expect.objectContaining({
        message: expect.stringContaining('The pinned definitions of MCP tools'),
        fix: expect.objectContaining({
          hint: 'Correct or delete the file; without it, tools are pinned as they are seen next.',
        }),
      }),
    )
  })

  it('is not written where nothing changes', () => {
    const data = withFile(() => {})
    const path = join(data, 'mcp-pins.json')
    const before = statSync(path).ino + statSync(path).mtimeMs
    const pins = new Pins(data)
    pins.review('s', [define('add', 'Other.')], NOW)
    pins.accept('other')
    expect(new Pins(data).forget('other')).toBe(0)
    expect(statSync(path).ino + statSync(path).mtimeMs).toBe(before)
  })

  it('shows what a new tool says now, and what changed in one that changes again', () => {
    const data = temporaryFolder('pins-file')
    const pins = new Pins(data)
    pins.review('s', [define('add', 'Adds.')], NOW)
    const { added } = pins.review('s', [define('add', 'Adds.'), define('sub', 'New.')], NOW)
    expect(added.get('sub')).toEqual({
      before: {},
      after: partsOf(define('sub', 'New.')),
      hash: define('sub', 'New.').hash,
      isNew: true,
    })
    for (const description of ['One.', 'Two.']) {
      const drift = pins.review('s', [define('add', description)], NOW).drifts.get('add')!
      expect(drift).toMatchObject({
        hash: define('add', description).hash,
        after: { description },
        pinned: { description: 'Adds.' },
      })
    }
    expect(pins.accept('s')).toEqual(['add', 'sub'])
    expect(pins.list('s').map(({ tool, isNew, drifted, parts }) => [tool, isNew, drifted, parts.description])).toEqual([
      ['add', undefined, undefined, 'Two.'],
      ['sub', undefined, undefined, 'New.'],
    ])
  })
})

describe('a pinned definition', () => {
  it('is whole or not known', () => {
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

  it('may be the least that a server says', () => {
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
