import { describe, expect, it } from 'vitest'
import { repairInput } from './to-tool.ts'

const text = { type: 'string' }
const number = { type: 'number' }

describe('the repaired schema of arguments', () => {
  it('is an object where nothing was said', () => {
    for (const given of [undefined, null, true, {}, { type: 'object' }, { type: ['object', 'null'] }]) {
      expect(repairInput(given)).toMatchObject({ type: 'object', properties: {} })
    }
  })

  it('is left as it is where nothing is wrong', () => {
    const given = { type: 'object', properties: { a: text }, required: ['a'], additionalProperties: false }
    expect(repairInput(given)).toEqual(given)
  })

  it('has no union at its root, and every shape of it still fits', () => {
    const given = {
      anyOf: [
        { type: 'object', properties: { kind: { const: 'a' }, a: text }, required: ['kind', 'a'] },
        { type: 'object', properties: { kind: { const: 'b' }, b: number }, required: ['kind', 'b'] },
      ],
    }
    expect(repairInput(given)).toEqual({
      type: 'object',
      properties: { kind: { anyOf: [{ const: 'a' }, { const: 'b' }] }, a: text, b: number },
      required: ['kind'],
    })
  })

  it('takes parts together, and follows references inside it', () => {
    const given = {
      $ref: '#/$defs/whole',
      $defs: {
        whole: { allOf: [{ $ref: '#/$defs/part' }, { properties: { b: number }, required: ['b'] }] },
        part: { properties: { a: text }, required: ['a'] },
      },
    }
    expect(repairInput(given)).toMatchObject({
      type: 'object',
      properties: { a: text, b: number },
      required: ['a', 'b'],
    })
    expect(repairInput(given)).not.toHaveProperty('$ref')
    expect(repairInput(given)).not.toHaveProperty('allOf')
  })

  it('is none for what can be no object, and for what refers to itself', () => {
    for (const given of [false, 'x', [], { type: 'string' }, { anyOf: [text, number] }]) {
      expect(repairInput(given)).toBeUndefined()
    }
    expect(repairInput({ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } })).toBeUndefined()
  })

  it('is none for unions that grow without end', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 60 }, (_, level) => {
        const next = { $ref: `#/$defs/d${level + 1}` }
        return [`d${level}`, { anyOf: [next, next, next] }]
      }),
    )
    expect(repairInput({ $ref: '#/$defs/d0', $defs })).toBeUndefined()
  })

  it('keeps a property of any name a property', () => {
    const given = JSON.parse('{"oneOf":[{"properties":{"__proto__":{"type":"string"}}},{"properties":{"b":{}}}]}')
    const repaired = repairInput(given)!
    expect(Object.keys(repaired.properties as object)).toEqual(['__proto__', 'b'])
  })
  it('has names for what is required, each once, or none', () => {
    expect(repairInput({ required: ['a', 1, 'a', 'b'] })).toStrictEqual({
      type: 'object',
      properties: {},
      required: ['a', 'b'],
    })
    for (const required of ['a', [], [1], undefined]) {
      expect(repairInput({ ...(required !== undefined && { required }) })).toStrictEqual({
        type: 'object',
        properties: {},
      })
    }
    expect(repairInput({ properties: 'none' })).toStrictEqual({ type: 'object', properties: {} })
    expect(repairInput({ type: ['null', 'object'], title: 'x' })).toStrictEqual({
      type: 'object',
      title: 'x',
      properties: {},
    })
    expect(repairInput({ type: ['null', 'string'] })).toBeUndefined()
  })

  it.each(['anyOf', 'oneOf'])('is closed where every shape of %s is', (union) => {
    const shape = (name: string, isClosed: boolean) => ({
      properties: { [name]: text },
      ...(isClosed && { additionalProperties: false }),
    })
    const closed = (...shapes: object[]) => repairInput({ [union]: shapes })?.additionalProperties
    expect(closed(shape('a', true), shape('b', true))).toBe(false)
    expect(closed(shape('a', true), shape('b', false))).toBeUndefined()
    expect(closed(shape('a', false), shape('b', true))).toBeUndefined()
  })

  it('leaves out shapes that are no object, and a union without any', () => {
    expect(repairInput({ oneOf: [text, 'x', { properties: { a: text }, required: ['a'] }] })).toEqual({
      type: 'object',
      properties: { a: text },
      required: ['a'],
    })
    expect(repairInput({ anyOf: [], properties: { a: text } })).toEqual({ type: 'object', properties: { a: text } })
    expect(repairInput({ anyOf: 'none', properties: { a: text } })).toMatchObject({
      properties: { a: text },
      anyOf: 'none',
    })
  })

  it('takes the same property of two shapes once, and others together', () => {
    const shapes = [{ properties: { a: text, b: text } }, { properties: { a: text, b: number } }]
    expect(repairInput({ anyOf: shapes })?.properties).toEqual({ a: text, b: { anyOf: [text, number] } })
    expect(repairInput({ allOf: shapes })?.properties).toEqual({ a: text, b: { allOf: [text, number] } })
    const nested = {
      properties: { c: number },
      required: ['c'],
      anyOf: [{ required: ['a', 'b'] }, { required: ['b'] }],
    }
    expect(repairInput(nested)).toMatchObject({ properties: { c: number }, required: ['c', 'b'] })
  })

  it.each(['#/$defs/a', '#/definitions/a'])('follows %s', ($ref) => {
    const given = {
      $ref,
      title: 'own',
      $defs: { a: { properties: { a: text }, title: 'its' } },
      definitions: { a: { properties: { a: text } } },
    }
    expect(repairInput(given)).toMatchObject({ properties: { a: text }, title: 'own' })
  })

  it.each(['x#/$defs/a', '#/$defs/a/b', '#/$defs/none', '#/$defs/text', '#/other/a', '#/$defs/constructor', 1])(
    'leaves %s as it is',
    ($ref) => {
      const $defs = { a: { properties: { a: text } }, text: 'none' }
      expect(repairInput({ $ref, $defs, other: $defs })).toMatchObject({ $ref, properties: {} })
      expect(repairInput({ $ref: '#/$defs/a', $defs: 'none' })).toMatchObject({ $ref: '#/$defs/a' })
    },
  )

  it('takes 200 steps', () => {
    const chain = (length: number) => {
      const $defs = Object.fromEntries(
        Array.from({ length }, (_, level) => [
          `d${level}`,
          level === length - 1 ? { properties: { a: text } } : { $ref: `#/$defs/d${level + 1}` },
        ]),
      )
      return repairInput({ $ref: '#/$defs/d0', $defs })
    }
    // Each reference takes two steps: to what it means, and to both together.
    expect(chain(99)).toMatchObject({ properties: { a: text } })
    expect(chain(100)).toBeUndefined()
  })
})
