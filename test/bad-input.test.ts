import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../packages/core/src/tool.ts'
import { testHub } from '../packages/testing/src/tool-contract.ts'

const echo = defineTool({
  name: 'bad.echo',
  description: 'Returns what it gets, for tests.',
  input: z.looseObject({}),
  execute: (input) => input,
})
const strict = defineTool({
  name: 'bad.strict',
  description: 'Takes one text and nothing else, for tests.',
  input: z.strictObject({ text: z.string() }),
  execute: ({ text }) => text,
})
const plain = defineTool({
  name: 'bad.plain',
  description: 'The same by plain JSON Schema, for tests.',
  input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false },
  execute: ({ text }) => text,
})

const cycle: Record<string, unknown> = {}
cycle.self = cycle

/** Tools that break the contract, each in its own way. */
const broken = {
  'throws a text': () => {
    throw 'just a text'
  },
  'throws null': () => {
    throw null
  },
  'throws an error that is not ours': () => {
    throw new TypeError('oops')
  },
  rejects: () => Promise.reject(new Error('no')),
  'returns undefined': () => undefined,
  'returns a promise of undefined': async () => undefined,
  'returns a BigInt': () => ({ n: 1n }),
  'returns a cycle': () => cycle,
  'returns a function': () => () => 1,
  'returns 5,000 levels': () => JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`),
  'has a getter that throws': () => ({
    get x() {
      throw new Error('gotcha')
    },
  }),
}
const brokenTools = Object.entries(broken).map(([what, execute]) =>
  defineTool({
    name: `bad.${what.replaceAll(/[^a-z0-9]+/gi, '-')}`,
    description: `A tool that ${what}.`,
    input: z.strictObject({}),
    execute,
  }),
)

const hub = testHub({ tools: [echo, strict, plain, ...brokenTools] })
afterAll(() => hub.close())

describe('hostile arguments end with a typed error that says what to do', () => {
  const cases: [string, unknown][] = [
    ['a text instead of an object', 'text'],
    ['null', null],
    ['undefined', undefined],
    ['an array', [1]],
    ['a NUL', { text: 'a\0b' }],
    ['a lone surrogate', { text: '\ud800' }],
    ['a lone surrogate in a key', { '\udc00': 1 }],
    ['a __proto__ key', JSON.parse('{"text":"a","__proto__":{"admin":true}}')],
    ['a deep __proto__ key', { deep: JSON.parse('[{"__proto__":1}]') }],
    ['a constructor key', { constructor: { prototype: {} } }],
    ['5,000 levels', JSON.parse(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`)],
    ['a cycle', cycle],
    ['a BigInt', { n: 1n }],
    ['NaN', { n: Number.NaN }],
    ['a function', { f: () => 1 }],
    ['a Date', { at: new Date() }],
    ['50 MB', { text: 'x'.repeat(50_000_000) }],
  ]
  for (const [what, input] of cases) {
    it(what, async () => {
      const result = await hub.callDynamic('bad.echo', input)
      expect(result).toMatchObject({ ok: false, error: { code: 'INPUT_SCHEMA_INVALID' } })
      expect(result.error!.fix.hint.length).toBeGreaterThan(10)
    })
  }

  for (const name of ['bad.strict', 'bad.plain']) {
    it(`wrong types, missing and extra keys of ${name}`, async () => {
      expect((await hub.callDynamic(name, { text: 1 })).error?.message).toMatch(/text.*string/)
      expect((await hub.callDynamic(name, {})).error?.message).toMatch(/text/)
      const extra = await hub.callDynamic(name, { text: 'a', txt: 'b' })
      expect(extra.error?.message).toMatch(/txt.*did you mean "text"/i)
      expect((await hub.callDynamic(name, { text: 'fine' })).data).toBe('fine')
    })
  }

  it('names of tools that are names of something else', async () => {
    for (const name of ['constructor', '__proto__', 'toString', '', ' ', 'a'.repeat(10_000), 'core/util.time.now\0']) {
      expect((await hub.callDynamic(name, {})).error?.code).toBe('TOOL_NOT_FOUND')
    }
    expect((await hub.callDynamic(undefined as never, {})).error?.code).toBe('TOOL_NOT_FOUND')
  })

  it('bad options of a call', async () => {
    expect((await hub.callDynamic('bad.echo', {}, { run: '../escape' })).error?.code).toBe('CONFIG_INVALID')
    expect((await hub.callDynamic('bad.echo', {}, { run: '' })).error?.code).toBe('CONFIG_INVALID')
  })
})

describe('tools that break the contract end with a typed error', () => {
  for (const { name, description } of brokenTools) {
    it(description, async () => {
      const result = await hub.callDynamic(name, {})
      expect(result.ok).toBe(false)
      expect(['TOOL_FAILED', 'OUTPUT_SCHEMA_INVALID']).toContain(result.error?.code)
    })
  }
})

it('after all of that the hub still works, and its record is whole', async () => {
  expect((await hub.call(strict, { text: 'still here' })).data).toBe('still here')
  expect(({} as { admin?: boolean }).admin).toBeUndefined()
})
