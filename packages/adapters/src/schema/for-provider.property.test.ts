import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../core/src/schema/schema.ts'
import { type Provider, type ProviderSchema, schemaFor } from './for-provider.ts'
import { isSchemaObject, mapSubschemas } from './subschemas.ts'

/** What schemas are made of here; a value of one is made with the form in which a strict model would give it. */
type Shape =
  | { readonly kind: 'scalar'; readonly schema: JsonObject; readonly values: readonly unknown[] }
  | { readonly kind: 'list'; readonly items: Shape }
  | { readonly kind: 'object'; readonly fields: readonly Field[]; readonly closed: boolean }
  | {
      readonly kind: 'union'
      readonly keyword: 'anyOf' | 'oneOf'
      readonly branches: readonly (Shape & { kind: 'object' })[]
    }
  | { readonly kind: 'reference'; readonly name: string; readonly target: Shape }

interface Field {
  readonly name: string
  readonly shape: Shape
  readonly isOptional: boolean
}

interface Pair {
  readonly value: unknown
  readonly wire: unknown
}

const scalar = (schema: JsonObject, ...values: unknown[]): Shape => ({ kind: 'scalar', schema, values })
const SCALARS: readonly Shape[] = [
  scalar({ type: 'string' }, '', 'a', 'null'),
  scalar({ type: 'string', minLength: 1, maxLength: 3, description: 'Short.' }, 'a', 'abc'),
  scalar({ type: 'string', format: 'uri' }, 'https://a.example/'),
  scalar({ type: 'string', format: 'date', pattern: '^2' }, '2026-01-01'),
  scalar({ type: 'string', pattern: '^(?!x)' }, 'a'),
  scalar({ type: 'integer', minimum: 0, default: 5 }, 0, 7),
  scalar({ type: ['number', 'boolean'] }, 1.5, true),
  scalar({ enum: ['a', 'b', 3] }, 'a', 3),
  scalar({ const: 'only' }, 'only'),
  scalar({ type: 'boolean', default: false }, true, false),
]
const NULLABLE = scalar({ type: ['string', 'null'] }, 'a', null)

const nameArb = fc.constantFrom('a', 'b', 'c', 'kind', 'input', 'constructor', 'ä ö', '$ref', 'type', 'properties')
const { shape: shapeArb } = fc.letrec<{ shape: Shape; object: Shape & { kind: 'object' } }>((tie) => ({
  object: fc
    .record({
      fields: fc.uniqueArray(fc.record({ name: nameArb, shape: tie('shape'), isOptional: fc.boolean() }), {
        maxLength: 4,
        selector: (field) => field.name,
      }),
      closed: fc.boolean(),
    })
    .map(({ fields, closed }) => ({ kind: 'object' as const, fields, closed: closed || fields.length === 0 })),
  shape: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    { weight: 5, arbitrary: fc.constantFrom(...SCALARS) },
    { weight: 1, arbitrary: fc.constant(NULLABLE) },
    { weight: 2, arbitrary: tie('shape').map((items) => ({ kind: 'list' as const, items })) },
    { weight: 4, arbitrary: tie('object') },
    {
      weight: 2,
      arbitrary: fc
        .record({
          keyword: fc.constantFrom('anyOf' as const, 'oneOf' as const),
          objects: fc.array(tie('object'), { minLength: 1, maxLength: 3 }),
        })
        .map(({ keyword, objects }) => ({ kind: 'union' as const, keyword, branches: objects.map(tag) })),
    },
    {
      weight: 1,
      arbitrary: tie('shape').map((target) => ({
        kind: 'reference' as const,
        name: `D/${JSON.stringify(target).length}`,
        target,
      })),
    },
  ),
}))

/** One possibility of a union says which it is. */
function tag(object: Shape & { kind: 'object' }, index: number): Shape & { kind: 'object' } {
  const kind = { name: 'kind', shape: scalar({ const: `k${index}` }, `k${index}`), isOptional: false }
  return { ...object, fields: [kind, ...object.fields.filter(({ name }) => name !== 'kind')] }
}

function schemaOf(shape: Shape, definitions: JsonObject): JsonObject {
  switch (shape.kind) {
    case 'scalar':
      return shape.schema
    case 'list':
      return { type: 'array', items: schemaOf(shape.items, definitions), uniqueItems: false }
    case 'union':
      return { [shape.keyword]: shape.branches.map((branch) => schemaOf(branch, definitions)) }
    case 'reference': {
      const name = `${shape.name}~${Object.keys(definitions).length}`
      definitions[name] = true
      definitions[name] = schemaOf(shape.target, definitions)
      return { $ref: `#/$defs/${name.replaceAll('~', '~0').replaceAll('/', '~1')}` }
    }
    case 'object':
      return {
        type: 'object',
        properties: Object.fromEntries(shape.fields.map(({ name, shape }) => [name, schemaOf(shape, definitions)])),
        required: shape.fields.filter(({ isOptional }) => !isOptional).map(({ name }) => name),
        ...(shape.closed && { additionalProperties: false }),
      }
  }
}

function pairOf(shape: Shape, choose: (count: number) => number): Pair {
  switch (shape.kind) {
    case 'scalar': {
      const value = shape.values[choose(shape.values.length)]
      return { value, wire: value }
    }
    case 'list': {
      const pairs = Array.from({ length: choose(3) }, () => pairOf(shape.items, choose))
      return { value: pairs.map(({ value }) => value), wire: pairs.map(({ wire }) => wire) }
    }
    case 'union':
      return pairOf(shape.branches[choose(shape.branches.length)]!, choose)
    case 'reference':
      return pairOf(shape.target, choose)
    case 'object': {
      const value: [string, unknown][] = []
      const wire: [string, unknown][] = []
      for (const { name, shape: field, isOptional } of shape.fields) {
        const isGiven = !isOptional || choose(2) === 1
        const pair = pairOf(field, choose)
        if (isGiven) value.push([name, pair.value])
        wire.push([name, isGiven ? pair.wire : null])
      }
      return { value: Object.fromEntries(value), wire: Object.fromEntries(wire) }
    }
  }
}

const caseArb = fc.tuple(shapeArb, fc.infiniteStream(fc.nat(99))).map(([shape, stream]) => {
  const definitions: JsonObject = {}
  const own = schemaOf(shape, definitions)
  const schema = Object.keys(definitions).length > 0 ? { ...own, $defs: definitions } : own
  const choose = (count: number) => stream.next().value % count
  return { schema, pair: pairOf(shape, choose) }
})

const ajv = new Ajv2020({ strict: false, logger: false })
addFormats.default(ajv)
/** Also checks that it is a schema. */
const compile = (schema: object) => ajv.compile(schema)

/** Every schema that a schema holds, itself too. */
function allOf(schema: unknown): JsonObject[] {
  if (!isSchemaObject(schema)) return []
  const below: JsonObject[] = []
  mapSubschemas(schema, (part) => below.push(...allOf(part)))
  return [schema, ...below]
}

const OPTIONS = { numRuns: 60 }
const asGiven = ({ changes }: ProviderSchema, value: unknown) =>
  changes.some((change) => change.includes('argument input')) ? { input: value } : value

describe('schemas for providers, whatever they are', () => {
  it('keep every value that the tool accepts, through strict mode and back', () => {
    let strictCount = 0
    fc.assert(
      fc.property(caseArb, ({ schema, pair }) => {
        fc.pre(compile(schema)(pair.value))
        const provided = schemaFor('openai-strict', schema)
        const { schema: written, strict, restore } = provided
        const isFit = compile(written)
        const given = asGiven(provided, strict ? pair.wire : pair.value)
        expect(isFit(given), JSON.stringify(isFit.errors)).toBe(true)
        const before = JSON.stringify(given)
        expect(restore(given)).toEqual(pair.value)
        expect(JSON.stringify(given)).toBe(before)
        if (!strict) return
        strictCount++
        for (const part of allOf(written).filter(({ type }) => type === 'object')) {
          expect(part.additionalProperties).toBe(false)
          expect(part.required).toEqual(Object.keys(part.properties as object))
        }
      }),
      OPTIONS,
    )
    expect(strictCount).toBeGreaterThan(8)
  })

  it.each<Provider>(['openai', 'anthropic', 'anthropic-strict', 'gemini'])(
    'compile for %s, with a plain object at the root, the same every time',
    (provider) => {
      fc.assert(
        fc.property(caseArb, ({ schema, pair }) => {
          const provided = schemaFor(provider, schema)
          const { schema: written, restore } = provided
          const again = schemaFor(provider, structuredClone(schema)).schema
          expect(JSON.stringify(again)).toBe(JSON.stringify(written))
          expect(written.type).toBe('object')
          for (const keyword of ['anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not', '$ref'])
            expect(written).not.toHaveProperty([keyword])
          const isFit = compile(written)
          if (
            provider === 'gemini' ||
            Object.hasOwn(Object(pair.value), 'ä ö') ||
            Object.hasOwn(Object(pair.value), '$ref')
          )
            return
          const given = asGiven(provided, pair.value)
          if (compile(schema)(pair.value)) expect(isFit(given), JSON.stringify(isFit.errors)).toBe(true)
          expect(restore(given)).toEqual(pair.value)
        }),
        OPTIONS,
      )
    },
  )

  it('are never broken by arguments of any kind', () => {
    fc.assert(
      fc.property(caseArb, fc.jsonValue(), ({ schema }, args) => {
        const before = JSON.stringify(args)
        schemaFor('openai-strict', schema).restore(args)
        expect(JSON.stringify(args)).toBe(before)
      }),
      OPTIONS,
    )
  })
})
