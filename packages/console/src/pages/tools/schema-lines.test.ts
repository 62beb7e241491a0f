import { describe, expect, it } from 'vitest'
import { describeType, flattenSchema } from './schema-lines.ts'

describe('flattenSchema', () => {
  it('lists the parts of lists and objects by their path', () => {
    const lines = flattenSchema({
      type: 'object',
      required: ['edits'],
      properties: {
        edits: { type: 'array', items: { type: 'object', required: ['old'], properties: { old: { type: 'string' } } } },
        mode: { enum: ['a', 'b'], default: 'a' },
      },
    })
    expect(lines.map(({ path, isRequired, type }) => [path, isRequired, type])).toEqual([
      ['edits', true, 'list of object'],
      ['edits[].old', true, 'text'],
      ['mode', false, 'one of "a", "b"'],
    ])
  })

  it('comes to an end where a schema names itself', () => {
    const self = { $ref: '#/$defs/self' }
    const $defs = { self: { type: 'array', items: self } }
    expect(flattenSchema({ $defs, type: 'object', properties: { tree: self } })).toHaveLength(1)
    const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' } } }
    expect(flattenSchema({ $defs: { node }, ...node }).length).toBeLessThan(10)
  })
})

describe('describeType', () => {
  it.each([
    [{ type: 'string', minLength: 1, maxLength: 4_000 }, 'text, 1 to 4,000 characters'],
    [{ type: 'integer', minimum: 1 }, 'whole number, at least 1'],
    [{ type: 'integer', maximum: Number.MAX_SAFE_INTEGER }, 'whole number'],
    [{ type: 'array', items: { type: 'number' }, maxItems: 3 }, 'list of number, at most 3 items'],
    [{ anyOf: [{ type: 'string' }, { type: 'boolean' }] }, 'text or true or false'],
    [{ const: 'x' }, 'always "x"'],
    [{}, 'any JSON'],
  ])('says %o in words', (schema, words) => {
    expect(describeType(schema, schema)).toBe(words)
  })
})
