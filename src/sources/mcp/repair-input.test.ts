import { describe, expect, it } from 'vitest'
import { repairInput } from './repair-input.ts'

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
})
