import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { compileSchema } from './compile-schema.ts'
import { describeIssues } from './issues.ts'
import type { AnySchema } from './schema.ts'

const describeFailure = async (schema: AnySchema, value: unknown): Promise<string> => {
  const result = await compileSchema(schema, { side: 'input' }).validate(value)
  return result.ok ? 'no issues' : describeIssues(result.issues, 'Invalid arguments for notes.save')
}

const note = {
  zod: z.strictObject({ path: z.string(), mode: z.enum(['fast', 'slow']).optional(), size: z.int().optional() }),
  json: {
    type: 'object',
    properties: { path: { type: 'string' }, mode: { enum: ['fast', 'slow'] }, size: { type: 'integer' } },
    required: ['path'],
    additionalProperties: false,
  } as AnySchema,
}

describe.each(['zod', 'json'] as const)('the message for %s', (kind) => {
  it.each<[string, unknown, string]>([
    ['a wrong type', { path: 1 }, 'path must be string, got number'],
    [
      'a fraction',
      { path: '', size: 1.5 },
      kind === 'zod' ? 'size must be integer, got number' : 'size must be integer, got 1.5',
    ],
    ['null', null, 'must be object, got null'],
    ['a missing key', {}, 'must have the key "path"'],
    ['a mistyped key', { path: 'a', mdoe: 1 }, 'must have no key "mdoe" (did you mean "mode"?)'],
    ['an unknown key', { path: 'a', unrelated: 1 }, 'must have no key "unrelated" (there is "path", "mode", "size")'],
    ['a value out of a set', { path: 'a', mode: 'quick' }, 'mode must be one of "fast", "slow"'],
    [
      'a hostile key',
      JSON.parse('{"path":"a","__proto__":1}'),
      'must have no key "__proto__" (there is "path", "mode", "size")',
    ],
  ])('names %s', async (_, value, message) => {
    expect(await describeFailure(note[kind], value)).toBe(`Invalid arguments for notes.save: ${message}.`)
  })
})

describe('unions', () => {
  it('say the types they take, or what each form misses', async () => {
    const text = 'Invalid arguments for notes.save: text must be string or null, got number.'
    expect(await describeFailure(z.object({ text: z.string().or(z.null()) }), { text: 1 })).toBe(text)
    expect(
      await describeFailure({ properties: { text: { anyOf: [{ type: 'string' }, { type: 'null' }] } } }, { text: 1 }),
    ).toBe(text)
  })

  it('say what each form misses, also of forms that are referred to', async () => {
    const forms =
      'must fit one of 2 forms: must have the key "a" and must have no key "b"; or b must be number, got string'
    const union = z.union([z.strictObject({ a: z.string() }), z.strictObject({ b: z.number() })])
    expect(await describeFailure(union, { b: 'x' })).toContain(forms)
    const { anyOf } = z.toJSONSchema(union)
    expect(await describeFailure({ anyOf }, { b: 'x' })).toContain(forms)
    const referring = { items: { anyOf: [{ $ref: '#/$defs/0' }, { $ref: '#/$defs/1' }] }, $defs: { ...anyOf } }
    expect(await describeFailure(referring as AnySchema, [{ b: 'x' }])).toContain(`[0] ${forms}`)
  })

  it('by discriminator list its values', async () => {
    const schema = z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('a') }),
      z.object({ kind: z.literal('b') }),
    ])
    expect(await describeFailure(schema, { kind: 'c' })).toContain('kind must be one of "a", "b"')
    expect(await describeFailure(schema, {})).toContain('must have the key "kind"')
  })
})

describe('the message', () => {
  it('shows where, in words people write', async () => {
    const schema = z.object({ items: z.array(z.object({ name: z.string() })), 'a/b': z.number().optional() })
    expect(await describeFailure(schema, { items: [{ name: 1 }], 'a/b': 'x' })).toBe(
      'Invalid arguments for notes.save: items[0].name must be string, got number; ["a/b"] must be number, got string.',
    )
  })

  it("keeps an author's own words", async () => {
    const schema = z.object({ path: z.string('Say where to save it.'), size: z.number().max(3, 'at most 3 bytes') })
    expect(await describeFailure(schema, { size: 4 })).toBe(
      'Invalid arguments for notes.save: path: Say where to save it; size: at most 3 bytes.',
    )
  })

  it('names five issues and counts the others', async () => {
    const message = await describeFailure(z.array(z.string()), [1, 2, 3, 4, 5, 6, 7])
    expect(message).toMatch(/: \[0\] must be string, got number; .*; \[4\] must be string, got number and 2 more\.$/)
  })

  it('stays short for long keys and long lists', async () => {
    const long = 'k'.repeat(10_000)
    expect((await describeFailure(note.json, { path: 'a', [long]: 1 })).length).toBeLessThan(300)
    expect(
      (await describeFailure({ enum: Array.from({ length: 1000 }, (_, index) => index) }, 'x')).length,
    ).toBeLessThan(150)
  })

  it('suggests keys inside references and items', async () => {
    const schema = {
      items: { $ref: '#/$defs/item' },
      $defs: { item: { properties: { name: {} }, additionalProperties: false } },
    }
    expect(await describeFailure(schema as AnySchema, [{ nmae: 1 }])).toContain(
      '[0] must have no key "nmae" (did you mean "name"?)',
    )
  })

  it('shows the pattern, the format and the wrong key name', async () => {
    expect(await describeFailure({ pattern: '^a+$' } as AnySchema, 'b')).toContain('must match the pattern "^a+$"')
    expect(await describeFailure({ format: 'email' } as AnySchema, 'b')).toContain('must be in the format "email"')
    expect(await describeFailure({ propertyNames: { maxLength: 2 } } as AnySchema, { abc: 1 })).toContain(
      'key "abc" must not have more than 2',
    )
  })
})
