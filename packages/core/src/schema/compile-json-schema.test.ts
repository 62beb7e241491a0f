import { Type as TypeBox0 } from '@sinclair/typebox'
import { Type as TypeBox1 } from 'typebox'
import { describe, expect, it } from 'vitest'
import { ToolError } from '../errors.ts'
import { compileJsonSchema } from './compile-schema.ts'
import type { SchemaResult } from './schema.ts'

const check = async (schema: object, value: unknown, side: 'input' | 'output' = 'input'): Promise<SchemaResult> =>
  compileJsonSchema(schema, side).validate(value)

const passes = async (schema: object, value: unknown) => (await check(schema, value)).ok

const failure = async (schema: object): Promise<ToolError> => {
  const caught = await check(schema, {}).catch((error: unknown) => error)
  if (ToolError.is(caught)) return caught
  throw new Error('expected a ToolError')
}

describe('defaults', () => {
  const schema = {
    type: 'object',
    properties: { limit: { default: 10 }, deep: { type: 'object', properties: { tags: { default: [] } } } },
    required: ['limit'],
  }

  it('are filled on the way in, in a copy', async () => {
    const value = { deep: {} }
    expect(await check(schema, value)).toEqual({ ok: true, value: { limit: 10, deep: { tags: [] } } })
    expect(value).toEqual({ deep: {} })
  })

  it('are fresh for every call', async () => {
    const first = await check(schema, { deep: {} })
    const second = await check(schema, { deep: {} })
    expect(first).toEqual(second)
    expect((first as { value: { deep: { tags: unknown } } }).value.deep.tags).not.toBe(
      (second as { value: { deep: { tags: unknown } } }).value.deep.tags,
    )
  })

  it('are not filled on the way out', async () => {
    expect((await check(schema, { deep: {} }, 'output')).ok).toBe(false)
    expect(await check(schema, { limit: 1 }, 'output')).toEqual({ ok: true, value: { limit: 1 } })
  })
})

describe('references', () => {
  it('work inside the schema, also recursive ones and those of draft-07 definitions', async () => {
    const tree = { $ref: '#/$defs/node', $defs: { node: { type: 'array', items: { $ref: '#/$defs/node' } } } }
    expect(await passes(tree, [[], [[]]])).toBe(true)
    expect(await passes(tree, [[], [1]])).toBe(false)
    const old = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      definitions: { name: { type: 'string' } },
      properties: { name: { $ref: '#/definitions/name' } },
    }
    expect(await passes(old, { name: 'a' })).toBe(true)
    expect(await passes(old, { name: 1 })).toBe(false)
  })

  it.each(['https://example.com/schema.json', 'other.json#/x', '#/$defs/gone'])(
    'are never fetched: %s',
    async ($ref) => {
      const { code, message } = await failure({ properties: { a: { $ref } } })
      expect([code, message]).toEqual([
        'CONFIG_INVALID',
        `The input schema refers to "${$ref}", which is not inside it.`,
      ])
    },
  )

  it.each(['constructor', '__proto__', 'toString'])('to what every object has are refused: %s', async ($ref) => {
    expect((await failure({ properties: { a: { $ref } } })).code).toBe('CONFIG_INVALID')
  })

  it('do not clash or reach across the schemas of two tools', async () => {
    const one = { $id: 'https://example.com/a', $defs: { s: { $id: 'inner', type: 'string' } }, $ref: 'inner' }
    const two = { $id: 'https://example.com/a', $defs: { n: { $id: 'inner', type: 'number' } }, $ref: 'inner' }
    expect([await passes(one, 'x'), await passes(two, 1), await passes(two, 'x')]).toEqual([true, true, false])
    expect((await failure({ $ref: 'https://example.com/a' })).code).toBe('CONFIG_INVALID')
  })

  it('that only lead to themselves refuse the value instead of crashing', async () => {
    expect(await check({ $ref: '#' }, 1)).toEqual({
      ok: false,
      issues: [{ path: '', message: 'must not be nested that deeply' }],
    })
  })

  it('of TypeBox resolve by $id', async () => {
    const recursive = TypeBox0.Recursive((This) => TypeBox0.Object({ nodes: TypeBox0.Array(This) }))
    const cyclic = TypeBox1.Cyclic({ A: TypeBox1.Object({ nodes: TypeBox1.Array(TypeBox1.Ref('A')) }) }, 'A')
    for (const schema of [recursive, cyclic]) {
      expect(await passes(schema, { nodes: [{ nodes: [] }] })).toBe(true)
      expect(await passes(schema, { nodes: [{}] })).toBe(false)
    }
  })
})

describe('patterns', () => {
  it('run in linear time', async () => {
    const schema = { type: 'string', pattern: '^(a+)+$' }
    expect(await passes(schema, `${'a'.repeat(50_000)}!`)).toBe(false)
  })

  it('understand what JavaScript writes differently', async () => {
    expect(await passes({ pattern: '^\\u0041(?<rest>\\/x)$' }, 'A/x')).toBe(true)
    expect(
      await passes({ patternProperties: { '^x-': { type: 'string' } }, additionalProperties: false }, { 'x-a': 'b' }),
    ).toBe(true)
    expect(
      await passes({ patternProperties: { '^x-': { type: 'string' } }, additionalProperties: false }, { 'x-a': 1 }),
    ).toBe(false)
  })

  it('that differ only in their text stay apart', async () => {
    const schema = { properties: { a: { pattern: '^a$' }, b: { pattern: '^b$' } } }
    expect(await passes(schema, { a: 'a', b: 'b' })).toBe(true)
    expect(await passes(schema, { a: 'a', b: 'a' })).toBe(false)
  })

  it.each(['(?=a)b', '(?!a)b', '(a)\\1', 'a{1,2000}', '('])(
    'RE2 cannot run are refused by name: %s',
    async (pattern) => {
      const { code, message, fix } = await failure({ properties: { a: { pattern } } })
      expect(code).toBe('CONFIG_INVALID')
      expect(message).toContain(`The pattern ${JSON.stringify(pattern)} cannot be used`)
      expect(fix.hint).toContain('lookaround')
    },
  )
})

describe('keywords', () => {
  it('closes objects across allOf with unevaluatedProperties', async () => {
    const schema = { allOf: [{ properties: { a: {} } }], properties: { b: {} }, unevaluatedProperties: false }
    expect(await passes(schema, { a: 1, b: 1 })).toBe(true)
    expect(await passes(schema, { a: 1, c: 1 })).toBe(false)
  })

  it('checks formats, and ignores formats and keywords it does not know', async () => {
    expect(await passes({ format: 'email' }, 'nobody')).toBe(false)
    expect(await passes({ format: 'x-own', 'x-note': { any: 1 } }, 'a')).toBe(true)
  })

  it('reads tuples of draft-07 and TypeBox', async () => {
    const tuple = { items: [{ type: 'string' }], additionalItems: false }
    for (const schema of [tuple, TypeBox0.Tuple([TypeBox0.String()]), TypeBox1.Tuple([TypeBox1.String()])]) {
      expect([await passes(schema, ['a']), await passes(schema, [1]), await passes(schema, ['a', 'b'])]).toEqual([
        true,
        false,
        false,
      ])
    }
    expect(compileJsonSchema(tuple, 'input').jsonSchema()).toEqual({ prefixItems: [{ type: 'string' }], items: false })
    expect(await passes({ items: [], additionalItems: { type: 'string' } }, [1])).toBe(false)
  })

  it('reads dependencies of draft-07', async () => {
    const schema = { dependencies: { a: ['b'], c: { required: ['d'] } } }
    expect([
      await passes(schema, { a: 1 }),
      await passes(schema, { c: 1 }),
      await passes(schema, { a: 1, b: 1 }),
    ]).toEqual([false, false, true])
  })

  it('cannot be talked into an async check, which would let everything pass', async () => {
    expect(await passes({ $async: true, type: 'string' }, 1)).toBe(false)
    expect(await passes({ properties: { a: { $async: true, type: 'string' } } }, { a: 1 })).toBe(false)
  })

  it('takes only own keys for given', async () => {
    expect(await passes({ required: ['toString'] }, {})).toBe(false)
    expect(await passes({ properties: { constructor: { type: 'string' } } }, {})).toBe(true)
  })

  it('compares 100,000 items for uniqueness', async () => {
    const items = Array.from({ length: 100_000 }, (_, index) => [index])
    // Comparing each with each would take minutes.
    expect(await passes({ uniqueItems: true }, items)).toBe(true)
    expect(
      await passes({ uniqueItems: true }, [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ]),
    ).toBe(false)
    expect(await passes({ uniqueItems: false }, [1, 1])).toBe(true)
  })
})
