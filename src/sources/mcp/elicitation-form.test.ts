import { describe, expect, it } from 'vitest'
import { ElicitationForm } from './elicitation-form.ts'

const form = (field: unknown, others = {}) => ({ type: 'object', properties: { a: field }, ...others })
const text = { type: 'string' }

describe('a form of a server', () => {
  it.each([
    { ...text, title: 'A', description: 'b', minLength: 1, maxLength: 2, format: 'email', default: 'x' },
    { ...text, enum: ['a', 'b'], enumNames: ['A', 'B'] },
    { ...text, oneOf: [{ const: 'a', title: 'A' }] },
    { type: 'integer', minimum: 1, maximum: 3, default: 2 },
    { type: 'boolean', default: true },
    { type: 'array', minItems: 1, items: { type: 'string', enum: ['a', 'b'] }, default: ['a'] },
    { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } },
  ])('may have a field %j', (field) => {
    expect(ElicitationForm.parse(form(field, { required: ['a'] }))).toEqual(form(field, { required: ['a'] }))
  })

  it('loses what the protocol does not know', () => {
    const given = form({ ...text, pattern: '(a+)+$', 'x-other': 1 }, { additionalProperties: false, $schema: 'x' })
    expect(ElicitationForm.parse(given)).toEqual(form(text))
  })

  it.each([
    form({ $ref: '#/$defs/a' }),
    form({ ...text, $ref: '#' }),
    form({ ...text, allOf: [text] }),
    form({ type: 'object', properties: {} }),
    form({ type: 'array', items: { type: 'array', items: text } }),
    form({}),
    form(text, { $ref: '#/properties/a' }),
    form(text, { $defs: { a: text } }),
    form(text, { anyOf: [{}] }),
    form({ ...text, enum: [{ a: 1 }] }),
    form({ ...text, enum: Array.from({ length: 20_000 }, () => 'abc') }),
    { type: 'object', properties: Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`f${index}`, text])) },
  ])('is refused when it is not flat or too large (%#)', (given) => {
    expect(ElicitationForm.safeParse(given).success).toBe(false)
  })
})
