import { Type as TypeBox0 } from '@sinclair/typebox'
import { type } from 'arktype'
import { Type as TypeBox1 } from 'typebox'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ToolError } from '../errors.ts'
import { compileSchema, type SchemaResult } from './compile-schema.ts'
import type { AnySchema } from './schema.ts'

const check = async (schema: AnySchema, value: unknown, side: 'input' | 'output' = 'input'): Promise<SchemaResult> =>
  compileSchema(schema, { side }).validate(value)

const problems = async (schema: AnySchema, value: unknown): Promise<string[]> => {
  const result = await check(schema, value)
  return result.ok ? [] : result.issues.map(({ path, message }) => `${path} ${message}`.trim())
}

const error = async (run: () => unknown): Promise<ToolError> => {
  try {
    await run()
  } catch (caught) {
    if (ToolError.is(caught)) return caught
  }
  throw new Error('expected a ToolError')
}

describe('what is one schema to all kinds', () => {
  const kinds: Array<[string, AnySchema]> = [
    ['zod', z.strictObject({ path: z.string(), count: z.int().optional() })],
    ['arktype', type({ '+': 'reject', path: 'string', 'count?': 'number.integer' })],
    [
      'TypeBox 0.34',
      TypeBox0.Object(
        { path: TypeBox0.String(), count: TypeBox0.Optional(TypeBox0.Integer()) },
        { additionalProperties: false },
      ),
    ],
    [
      'TypeBox 1.x',
      TypeBox1.Object(
        { path: TypeBox1.String(), count: TypeBox1.Optional(TypeBox1.Integer()) },
        { additionalProperties: false },
      ),
    ],
    [
      'JSON Schema',
      {
        type: 'object',
        properties: { path: { type: 'string' }, count: { type: 'integer' } },
        required: ['path'],
        additionalProperties: false,
      } as AnySchema,
    ],
  ]

  it.each(kinds)('%s lets a fitting value pass and refuses wrong types, missing and extra keys', async (_, schema) => {
    expect(await check(schema, { path: 'a', count: 2 })).toEqual({ ok: true, value: { path: 'a', count: 2 } })
    expect((await check(schema, { path: 1 })).ok).toBe(false)
    expect((await check(schema, {})).ok).toBe(false)
    expect((await check(schema, { path: 'a', extra: 1 })).ok).toBe(false)
    expect((await check(schema, { path: 'a', count: '2' })).ok, 'no coercion').toBe(false)
    expect((await check(schema, null)).ok).toBe(false)
  })

  it.each(kinds)('%s shows itself as closed JSON Schema, frozen and made once', (_, schema) => {
    const compiled = compileSchema(schema, { side: 'input' })
    const json = compiled.jsonSchema()
    expect(json).toMatchObject({ type: 'object', properties: { path: { type: 'string' } }, required: ['path'] })
    expect(json).toHaveProperty('additionalProperties', false)
    expect(json).not.toHaveProperty('$schema')
    expect(Object.isFrozen(json) && Object.isFrozen(json.properties)).toBe(true)
    expect(compiled.jsonSchema()).toBe(json)
  })

  it.each(kinds)(
    '%s is compiled once per object and side, and answers without a promise once ready',
    async (_, schema) => {
      const compiled = compileSchema(schema, { side: 'input' })
      await compiled.validate({ path: 'a' })
      expect(compileSchema(schema, { side: 'input' })).toBe(compiled)
      expect(compileSchema(schema, { side: 'output' })).not.toBe(compiled)
      expect(compiled.validate({ path: 'a' })).not.toBeInstanceOf(Promise)
    },
  )

  it.each(kinds)('%s never lets hostile keys through or pollutes a prototype', async (_, schema) => {
    for (const key of ['__proto__', 'constructor', 'prototype', 'toString']) {
      const value = JSON.parse(`{"path":"a","${key}":{"polluted":true}}`)
      expect((await check(schema, value)).ok, key).toBe(false)
    }
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
})

describe('Standard Schema', () => {
  it('runs defaults, transforms and refinements', async () => {
    const schema = z.object({
      limit: z.int().default(10),
      name: z
        .string()
        .trim()
        .refine((name) => name !== 'root', 'not root'),
    })
    expect(await check(schema, { name: ' a ' })).toEqual({ ok: true, value: { limit: 10, name: 'a' } })
    expect(await problems(schema, { name: 'root' })).toEqual(['/name not root'])
  })

  it('does not ask the caller for fields that have a default, but promises them in the output', () => {
    const schema = z.strictObject({ path: z.string(), limit: z.int().default(10) })
    expect(compileSchema(schema, { side: 'input' }).jsonSchema().required).toEqual(['path'])
    expect(compileSchema(schema, { side: 'output' }).jsonSchema().required).toEqual(['path', 'limit'])
  })

  it('awaits an async refinement', async () => {
    const schema = z.object({ name: z.string().refine(async (name) => name !== 'taken', 'is taken') })
    expect((await check(schema, { name: 'free' })).ok).toBe(true)
    expect(await problems(schema, { name: 'taken' })).toEqual(['/name is taken'])
  })

  it('names the vendor and the way out when there is no JSON Schema', async () => {
    const schema = { '~standard': { version: 1, vendor: 'acme', validate: (value: unknown) => ({ value }) } } as const
    const { code, message, fix } = await error(() => compileSchema(schema, { side: 'input' }).jsonSchema())
    expect([code, message]).toEqual([
      'CONFIG_INVALID',
      'The input schema, made with acme, cannot be shown as JSON Schema.',
    ])
    expect(fix.hint).toContain('"~standard".jsonSchema')
  })

  it('says why a type has no JSON form, and still checks values', async () => {
    const schema = z.strictObject({ at: z.date() })
    const { code, message } = await error(() => compileSchema(schema, { side: 'input' }).jsonSchema())
    expect([code, message]).toEqual([
      'CONFIG_INVALID',
      'The input schema, made with zod, has no JSON Schema form: Date cannot be represented in JSON Schema',
    ])
    expect(await problems(schema, { at: new Date(0), al: 1 })).toEqual(['must have no key "al"'])
  })

  it('denies when a library answers neither yes nor no', async () => {
    const schema = { '~standard': { version: 1, vendor: 'acme', validate: () => ({}) } } as unknown as AnySchema
    expect(await problems(schema, 1)).toEqual(['could not be checked by its schema'])
  })

  it('takes a JSON Schema with a "~standard" key for what it is', async () => {
    const schema = { '~standard': { version: 1, vendor: 'evil' }, type: 'string' } as AnySchema
    expect((await check(schema, 1)).ok).toBe(false)
  })
})

describe('a schema that is none', () => {
  it.each([undefined, null, 'string', 3, true, []])('is refused immediately: %j', async (schema) => {
    const { code, message } = await error(() => compileSchema(schema as never, { side: 'input' }))
    expect(code).toBe('CONFIG_INVALID')
    expect(message).toMatch(/^The input schema must be an object, got /)
  })
})
