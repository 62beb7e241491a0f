import { describe, expect, it } from 'vitest'
import { cpuMs } from '../../../../test/support/cpu-time.ts'
import { type Provider, schemaFor } from './for-provider.ts'

const strict = (schema: unknown) => schemaFor('openai-strict', schema)
const object = (properties: object, ...required: string[]) => ({ type: 'object', properties, required })
const TEXT = { type: 'string' }
const notStrict = (schema: unknown) => strict(schema).changes.find((change) => change.startsWith('not strict: '))

describe('the root of a schema', () => {
  it('is an object, whatever the tool accepts', () => {
    expect(schemaFor('openai', {}).schema).toEqual({ type: 'object', properties: {} })
    expect(schemaFor('openai', true).schema).toEqual({ type: 'object', properties: {} })
    expect(schemaFor('openai', undefined).schema).toEqual({ type: 'object', properties: {} })
    expect(schemaFor('openai', false).schema).toEqual({ type: 'object', properties: {}, additionalProperties: false })
    expect(schemaFor('openai', { properties: { a: TEXT } }).schema.type).toBe('object')
    expect(schemaFor('openai', { type: ['object', 'null'], properties: {} }).schema.type).toBe('object')
  })

  it('becomes the argument `input` when it is a union, a list or a text, and comes back', () => {
    for (const schema of [
      { anyOf: [object({ a: TEXT }), object({ b: TEXT })] },
      { type: 'array', items: TEXT },
      { enum: ['a'] },
    ]) {
      const { schema: written, restore } = schemaFor('anthropic', schema)
      expect(written).toEqual({
        type: 'object',
        properties: { input: schema },
        required: ['input'],
        additionalProperties: false,
      })
      expect(restore({ input: ['x'] })).toEqual(['x'])
      expect(restore({ a: 'forgot the wrapper' })).toEqual({ a: 'forgot the wrapper' })
    }
  })

  it('keeps its references when it moves', () => {
    const schema = {
      $defs: { a: TEXT, n: { type: 'object', properties: { next: { $ref: '#' } } } },
      anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/n' }],
    }
    const { input } = schemaFor('openai', schema).schema.properties as Record<string, typeof schema>
    expect(input?.anyOf).toEqual([{ $ref: '#/properties/input/$defs/a' }, { $ref: '#/properties/input/$defs/n' }])
    expect(input?.$defs.n).toEqual({ type: 'object', properties: { next: { $ref: '#/properties/input' } } })
  })

  it('says in words which of its arguments must be given', () => {
    const schema = {
      ...object({ a: TEXT, b: TEXT }),
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
      description: 'Find.',
    }
    expect(schemaFor('anthropic', schema).schema).toEqual({
      ...object({ a: TEXT, b: TEXT }),
      description: 'Find. (anyOf: [{"required":["a"]},{"required":["b"]}])',
    })
  })

  it('is one object where allOf or a reference stood', () => {
    const schema = {
      $defs: { base: object({ id: TEXT }, 'id') },
      allOf: [{ $ref: '#/$defs/base' }, object({ b: TEXT })],
    }
    expect(schemaFor('openai', schema).schema).toMatchObject({ properties: { id: TEXT, b: TEXT }, required: ['id'] })
    expect(schemaFor('openai', { $ref: '#/$defs/base', $defs: schema.$defs }).schema).toMatchObject(
      object({ id: TEXT }, 'id'),
    )
    const clash = { allOf: [object({ a: TEXT }), object({ a: { type: 'number' } })] }
    expect(schemaFor('openai', clash).schema.properties).toHaveProperty('input')
  })
})

describe('strict mode', () => {
  it('closes objects, requires all, and lets null stand for what is left out, at every level', () => {
    const inner = object({ x: { type: 'integer', default: 3 }, y: TEXT }, 'y')
    const {
      schema,
      strict: isStrict,
      restore,
    } = strict(object({ a: inner, list: { type: 'array', items: inner } }, 'list'))
    const written = {
      type: 'object',
      properties: { x: { type: ['integer', 'null'], description: '(default: 3)' }, y: TEXT },
      required: ['x', 'y'],
      additionalProperties: false,
    }
    expect(isStrict).toBe(true)
    expect(schema).toEqual({
      type: 'object',
      properties: { a: { anyOf: [written, { type: 'null' }] }, list: { type: 'array', items: written } },
      required: ['a', 'list'],
      additionalProperties: false,
    })
    const given = {
      a: null,
      list: [
        { x: null, y: 'null' },
        { x: 1, y: '' },
      ],
    }
    expect(restore(given)).toEqual({ list: [{ y: 'null' }, { x: 1, y: '' }] })
  })

  it('keeps null where null means something', () => {
    const { strict: isStrict, restore } = strict(
      object({ a: { type: ['string', 'null'] }, b: { type: ['string', 'null'], default: null } }, 'a'),
    )
    expect(isStrict).toBe(true)
    expect(restore({ a: null, b: null })).toEqual({ a: null, b: null })
    expect(notStrict(object({ a: { type: ['string', 'null'] } }))).toMatch(/a may be left out or be null/)
    expect(notStrict(object({ a: { $ref: '#/$defs/n' } }))).toBeDefined()
  })

  it('says in words what it does not understand, and leaves the check to the hub', () => {
    const text = {
      type: 'string',
      minLength: 2,
      maxLength: 9_000,
      pattern: '^(?=a)',
      format: 'uri',
      description: 'A link.',
    }
    const { schema, changes } = strict(
      object({ text, day: { type: 'string', format: 'date', pattern: '^2' } }, 'text', 'day'),
    )
    expect(schema.properties).toEqual({
      text: { type: 'string', description: 'A link. (minLength: 2, pattern: "^(?=a)", format: "uri")' },
      day: { type: 'string', format: 'date', pattern: '^2' },
    })
    expect(changes).toContain('text leaves minLength to the hub')
  })

  it('follows a schema that holds itself, where the provider does', () => {
    const tree = object(
      { name: TEXT, children: { type: 'array', items: { $ref: '#' } }, parent: { $ref: '#/$defs/p' } },
      'name',
    )
    const schema = { ...tree, $defs: { p: object({ id: TEXT }) } }
    const { schema: written, strict: isStrict, restore } = strict(schema)
    expect(isStrict).toBe(true)
    expect(Object.keys(written.$defs as object)).toEqual(['root', 'p'])
    const leaf = { name: 'leaf', children: null, parent: { id: null } }
    expect(restore({ name: 'root', children: [leaf], parent: null })).toEqual({
      name: 'root',
      children: [{ name: 'leaf', parent: {} }],
    })
    expect(schemaFor('anthropic-strict', schema)).toMatchObject({ strict: false })
  })

  it('tells the possibilities of a union apart by a value or by their keys, or gives up', () => {
    const kind = (name: string, more: object) => object({ kind: { const: name }, ...more }, 'kind')
    const union = (...anyOf: object[]) => object({ u: { anyOf } }, 'u')
    const byValue = strict(
      union(kind('a', { x: TEXT }), { ...kind('b', { x: { type: ['string', 'null'] } }), required: ['kind', 'x'] }),
    )
    expect(byValue.restore({ u: { kind: 'a', x: null } })).toEqual({ u: { kind: 'a' } })
    expect(byValue.restore({ u: { kind: 'b', x: null } })).toEqual({ u: { kind: 'b', x: null } })
    const byKeys = strict(union(object({ x: TEXT }), object({ y: TEXT }), TEXT))
    expect(byKeys.restore({ u: { y: null } })).toEqual({ u: {} })
    expect(byKeys.restore({ u: 'text' })).toEqual({ u: 'text' })
    expect(notStrict(union(object({ x: TEXT }), object({ x: { type: 'number' } })))).toMatch(/cannot tell apart/)
  })

  it.each<[string, object]>([
    ['keys that nobody names', object({ map: { type: 'object', additionalProperties: TEXT } })],
    ['an object of anything', object({ any: { type: 'object' } })],
    ['anything at all', object({ any: {} })],
    ['a tuple', object({ pair: { type: 'array', prefixItems: [TEXT, TEXT] } })],
    ['a list of anything', object({ list: { type: 'array' } })],
    ['an enum of objects', object({ a: { enum: [{ x: 1 }] } }, 'a')],
    ['a name that is required and not described', object({}, 'ghost')],
    ['a reference to nowhere', object({ a: { $ref: '#/$defs/none' } }, 'a')],
    ['a reference to elsewhere', object({ a: { $ref: 'https://a.example/schema' } }, 'a')],
    ['properties that depend on others', { ...object({ a: TEXT }), then: { properties: { b: TEXT } } }],
    ['a type that does not exist', object({ a: { type: 'any' } }, 'a')],
    ['an open root', { type: 'object', additionalProperties: true, properties: { a: TEXT } }],
    ['too many values', object({ a: { enum: Array.from({ length: 1_001 }, (_, index) => `v${index}`) } }, 'a')],
    [
      'a long list of long values',
      object({ a: { enum: Array.from({ length: 251 }, (_, index) => `${index}${'x'.repeat(60)}`) } }, 'a'),
    ],
    ['too many levels', Array.from({ length: 12 }).reduce<object>((inner) => object({ a: inner }, 'a'), TEXT)],
  ])('is not claimed for %s', (_, schema) => {
    const { schema: written, strict: isStrict, restore } = strict(schema)
    expect(isStrict).toBe(false)
    expect(written).toEqual(schemaFor('openai', schema).schema)
    expect(notStrict(schema)).toBeDefined()
    expect(restore({ a: null })).toEqual({ a: null })
  })

  it('takes a tool without arguments as one', () => {
    expect(strict({ type: 'object', properties: {} })).toMatchObject({ strict: true, schema: { required: [] } })
    expect(strict({ type: 'object' }).strict).toBe(false)
  })
})

describe('Gemini', () => {
  it('gets only fields that it has', () => {
    const schema = {
      ...object(
        {
          mode: { const: 'fast' },
          level: { enum: [1, 2], type: 'integer' },
          name: { type: ['string', 'null'], format: 'uri', minLength: 1 },
          either: { oneOf: [TEXT, { type: 'number', exclusiveMinimum: 0 }] },
          mixed: { type: ['string', 'array'], items: TEXT },
          ref: { $ref: '#/$defs/a', description: 'Mine.' },
          map: { type: 'object', additionalProperties: TEXT, patternProperties: { x: TEXT } },
        },
        'mode',
        'ghost',
      ),
      additionalProperties: false,
      $defs: { a: { ...object({ self: { $ref: '#/$defs/a' } }), description: 'Its own.' } },
    }
    expect(schemaFor('gemini', schema).schema).toEqual({
      type: 'object',
      properties: {
        mode: { type: 'string', enum: ['fast'] },
        level: { type: 'integer', description: '(enum: [1,2])' },
        name: { type: 'string', nullable: true, minLength: 1, description: '(format: "uri")' },
        either: { anyOf: [TEXT, { type: 'number', description: '(exclusiveMinimum: 0)' }] },
        mixed: { anyOf: [TEXT, { type: 'array', items: TEXT }] },
        ref: { type: 'object', description: 'Mine.', properties: { self: { type: 'object' } } },
        map: { type: 'object', description: '(patternProperties: {"x":{"type":"string"}})' },
      },
      required: ['mode'],
    })
  })
})

describe('hostile schemas and arguments', () => {
  it('cost no more than others', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => {
        const next = { $ref: `#/$defs/d${index + 1}` }
        return [`d${index}`, { anyOf: [next, next], allOf: [next, next] }]
      }),
    )
    const twice = {
      type: 'object',
      properties: {
        a: { anyOf: [{ $ref: '#/$defs/d0' }, { allOf: [{ $ref: '#/$defs/d0' }, { $ref: '#/$defs/d0' }] }] },
      },
      $defs,
    }
    const unions = {
      ...twice,
      $defs: Object.fromEntries(Object.entries($defs).map(([name, { anyOf }]) => [name, { anyOf }])),
    }
    const loop = { ...twice, $defs: { d0: { $ref: '#/$defs/d1' }, d1: { $ref: '#/$defs/d0' } } }
    const took = cpuMs(() => {
      for (const schema of [twice, unions, loop]) {
        for (const provider of ['openai', 'openai-strict', 'anthropic-strict', 'gemini'] as Provider[]) {
          schemaFor(provider, schema).restore({ a: { a: null } })
        }
      }
    })
    expect(took).toBeLessThan(20_000)
  })

  it('make no prototype, and change nothing that they are given', () => {
    const { restore } = strict(object({ a: TEXT, b: object({ c: TEXT }) }))
    const args = JSON.parse('{"__proto__":{"polluted":true},"a":null,"b":{"__proto__":null,"c":null}}')
    const before = JSON.stringify(args)
    const restored = restore(args) as Record<string, unknown>
    expect(JSON.stringify(restored)).toBe('{"__proto__":{"polluted":true},"b":{"__proto__":null}}')
    expect(Object.getPrototypeOf(restored)).toBe(Object.prototype)
    expect(JSON.stringify(args)).toBe(before)
  })
})

describe('a schema', () => {
  it('is converted once for each provider, and nobody can change it', () => {
    const schema = object({ a: TEXT })
    expect(schemaFor('openai', schema)).toBe(schemaFor('openai', schema))
    expect(schemaFor('openai-strict', schema)).not.toBe(schemaFor('openai', schema))
    expect(Object.isFrozen(schemaFor('openai-strict', schema).schema.properties)).toBe(true)
  })
})
