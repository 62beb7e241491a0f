import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCheck, fromAjvErrors } from './ajv-engine.ts'
import { compileJsonSchema } from './compile-schema.ts'
import type { SchemaResult } from './schema.ts'

const check = async (schema: object, value: unknown): Promise<SchemaResult> =>
  compileJsonSchema(schema, 'input').validate(value)

const passes = async (schema: object, value: unknown) => (await check(schema, value)).ok

describe('many values', () => {
  it('name at most ten issues, also for a value with a million errors', async () => {
    const schema = { type: 'array', items: { type: 'string' } }
    const small = await check(
      schema,
      Array.from({ length: 50 }, () => 1),
    )
    expect(small.ok ? 0 : small.issues.length).toBe(10)
    const large = await check(
      schema,
      Array.from({ length: 1_000_000 }, () => 1),
    )
    expect(large).toEqual({ ok: false, issues: [{ path: '/0', message: 'must be string, got number' }] })
  })

  it('with thousands of wrong keys are reported by a few, and only those cost a search for the key that was meant', () => {
    let worded = 0
    const errors = Array.from({ length: 1_900 }, (_, index) => ({
      keyword: 'additionalProperties',
      instancePath: '',
      schemaPath: '#/additionalProperties',
      get params() {
        worded++
        return { additionalProperty: `wrong ${index}` }
      },
    }))
    expect(fromAjvErrors(errors, { value: {}, schema: { properties: {} } })).toHaveLength(10)
    expect(worded).toBe(10)
  })

  it('that are no JSON are refused, not crashed on', async () => {
    const cycle: unknown[] = []
    cycle.push(cycle)
    expect(await passes({ type: 'number' }, Number.NaN)).toBe(false)
    expect(await passes({ uniqueItems: true }, [cycle, cycle])).toBe(false)
    expect(await passes({ $ref: '#/$defs/a', $defs: { a: { items: { $ref: '#/$defs/a' } } } }, cycle)).toBe(false)
    expect(await passes({ properties: { a: { default: 1 } } }, cycle)).toBe(false)
  })

  it('may be checked concurrently while ajv loads', async () => {
    const compiled = compileJsonSchema({ type: 'string' }, 'input')
    const results = await Promise.all(['a', 1, 'b'].map((value) => compiled.validate(value)))
    expect(results.map(({ ok }) => ok)).toEqual([true, false, true])
  })

  const leaf = fc.constantFrom(
    { schema: { type: 'string' }, good: 'text', bad: 1 },
    { schema: { type: 'integer', minimum: 0 }, good: 3, bad: -1 },
    { schema: { type: 'boolean', default: true }, good: false, bad: 'no' },
    { schema: { enum: ['a', 'b'] }, good: 'b', bad: 'c' },
    { schema: { type: 'array', items: { type: 'null' } }, good: [null], bad: [0] },
  )
  const fields = fc.dictionary(
    fc.string({ minLength: 1 }).filter((key) => key !== '__proto__'),
    leaf,
    { minKeys: 1, maxKeys: 6 },
  )
  const pick = (from: Record<string, { schema: object; good: unknown; bad: unknown }>, part: 'schema' | 'good') =>
    Object.fromEntries(Object.entries(from).map(([key, field]) => [key, field[part]]))

  it('that fit a generated schema pass unchanged; with one wrong field they do not', async () => {
    await fc.assert(
      fc.asyncProperty(fields, async (from) => {
        const schema = {
          type: 'object',
          properties: pick(from, 'schema'),
          required: Object.keys(from),
          additionalProperties: false,
        }
        const value = pick(from, 'good')
        expect(await check(schema, value)).toEqual({ ok: true, value })
        const [key] = Object.keys(from)
        expect(await passes(schema, { ...value, [key!]: from[key!]!.bad })).toBe(false)
      }),
      { numRuns: 60 },
    )
  })

  it('are never changed, whatever they are', async () => {
    const compiled = compileJsonSchema(
      {
        properties: { a: { default: { x: [1] } }, b: { properties: { c: { default: 1 } } } },
        additionalProperties: { items: { properties: { d: { default: null } } } },
      },
      'input',
    )
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        const before = structuredClone(value)
        await compiled.validate(value)
        expect(value).toEqual(before)
      }),
      { numRuns: 200 },
    )
  })
})

describe('a schema whose references fan out', () => {
  const fan = (depth: number, leaf: object) => {
    const $defs = Object.fromEntries(
      Array.from({ length: depth }, (_, level) => {
        const next = { $ref: `#/$defs/d${level + 1}` }
        return [`d${level}`, { anyOf: [next, next] }]
      }),
    )
    return { $defs: { ...$defs, [`d${depth}`]: leaf } }
  }

  it('is refused by every value that would take for ever, and does not hang', () => {
    const inPlace = createCheck({ not: { $ref: '#/$defs/d0' }, ...fan(60, { type: 'string' }) }, 'input')
    expect(inPlace({})).toMatchObject({ ok: false, issues: [{ message: expect.stringContaining('1000000 steps') }] })
    const twice = { $ref: '#/$defs/node' }
    const node = { anyOf: [1, 2].map((version) => ({ properties: { next: twice }, required: [`v${version}`] })) }
    const deep = createCheck({ ...twice, $defs: { node } }, 'output')
    const value = Array.from({ length: 60 }).reduce((next: object) => ({ next }), {})
    expect(deep(value)).toMatchObject({ ok: false, issues: [{ message: expect.stringContaining('steps') }] })
    expect(deep({ v1: 1 })).toMatchObject({ ok: true })
  })

  it('is checked as ever where that ends, each value by itself', () => {
    const check = createCheck({ $ref: '#/$defs/d0', ...fan(8, { type: 'string' }) }, 'input')
    for (let turn = 0; turn < 3; turn++) expect(check('x').ok).toBe(true)
    expect(check(3).ok).toBe(false)
    const list = createCheck({ type: 'array', items: { $ref: '#/$defs/d0' }, ...fan(1, { type: 'integer' }) }, 'input')
    expect(list(Array.from({ length: 50_000 }, (_, index) => index)).ok).toBe(true)
    const literal = createCheck({ const: { $ref: 'not a reference' } }, 'input')
    expect(literal({ $ref: 'not a reference' }).ok).toBe(true)
  })
})
