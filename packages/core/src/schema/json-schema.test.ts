import { Type as TypeBox0 } from '@sinclair/typebox'
import { Type as TypeBox1 } from 'typebox'
import { describe, expect, it } from 'vitest'
import { ToolError } from '../errors.ts'
import { compileJsonSchema } from './compile-schema.ts'
import { toModernSchema } from './json-schema.ts'

const failure = async (schema: object): Promise<ToolError> => {
  const caught = await Promise.resolve()
    .then(() => compileJsonSchema(schema, 'input').validate({}))
    .catch((error: unknown) => error)
  if (ToolError.is(caught)) return caught
  throw new Error('expected a ToolError')
}

describe('a broken schema', () => {
  it.each<[object, string]>([
    [{ type: 'strng' }, 'strng'],
    [{ required: 'a' }, 'required'],
    [{ properties: { a: 5 } }, '/properties/a must be a schema'],
    [{ anyOf: [{}, null] }, '/anyOf/1 must be a schema'],
    [TypeBox0.Date(), 'Date'],
  ])('is a configuration error: %j', async (schema, part) => {
    const { code, message } = await failure(schema)
    expect(code).toBe('CONFIG_INVALID')
    expect(message).toContain(part)
  })

  it('that holds itself is refused', async () => {
    const schema: Record<string, unknown> = { type: 'object' }
    schema.properties = { self: schema }
    expect((await failure(schema)).message).toContain('over 100 levels deep, or holds itself')
  })

  it('fails every value the same way', async () => {
    const compiled = compileJsonSchema({ type: 'strng' }, 'input')
    await expect(async () => compiled.validate(1)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    expect(() => compiled.validate(1)).toThrow('strng')
  })

  it('is one whose TypeBox code could not be run', async () => {
    const withCode = [
      TypeBox0.Transform(TypeBox0.String()).Decode(Number).Encode(String),
      TypeBox1.Refine(TypeBox1.String(), () => false),
      TypeBox1.Codec(TypeBox1.String()).Decode(Number).Encode(String),
    ]
    for (const schema of withCode)
      expect((await failure({ properties: { a: schema } })).message).toContain('at /properties/a has a TypeBox')
  })
})

describe('the copy', () => {
  it('leaves values alone that only look like schemas', () => {
    const schema = { default: { $schema: 'x', id: 'y' }, enum: [{ items: [1] }], properties: { id: {}, $schema: {} } }
    expect(toModernSchema(schema, 'input')).toEqual(schema)
  })

  it('keeps a property named __proto__ a property', () => {
    const schema = toModernSchema(JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'), 'input')
    expect(Object.keys(schema.properties as object)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(schema.properties)).toBe(Object.prototype)
  })
})
