import { describe, expect, it } from 'vitest'
import { QuestionForm } from './questions.ts'

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
    ...['email', 'uri', 'date', 'date-time'].map((format) => ({ ...text, format })),
    { type: 'number', title: 'A', description: 'b', minimum: 0.5, maximum: 1.5 },
    { type: 'boolean', title: 'A', description: 'b' },
    { type: 'array', title: 'A', description: 'b', maxItems: 2, items: { type: 'string', enum: [] } },
    { ...text, oneOf: [{ const: 'a' }] },
  ])('may have a field %j', (field) => {
    expect(QuestionForm.parse(form(field, { required: ['a'] }))).toEqual(form(field, { required: ['a'] }))
  })

  it('loses what the protocol does not know', () => {
    const given = form({ ...text, pattern: '(a+)+$', 'x-other': 1 }, { additionalProperties: false, $schema: 'x' })
    expect(QuestionForm.parse(given)).toEqual(form(text))
  })

  it('keeps no format that the protocol does not know', () => {
    expect(QuestionForm.parse(form({ ...text, format: 'ipv4' }))).toEqual(form(text))
  })

  it('has at most 50 fields and required names, 50,000 characters, and names of at most 200', () => {
    const fields = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, text]))
    const whole = form({ ...text, description: '' })
    const described = (chars: number) =>
      form({ ...text, description: 'x'.repeat(chars - JSON.stringify(whole).length) })
    const isTaken = (given: unknown) => QuestionForm.safeParse(given).success
    expect([50, 51].map((count) => isTaken({ type: 'object', properties: fields(count) }))).toEqual([true, false])
    expect([50, 51].map((length) => isTaken(form(text, { required: Array(length).fill('a') })))).toEqual([true, false])
    expect([50_000, 50_001].map((chars) => isTaken(described(chars)))).toEqual([true, false])
    expect([200, 201].map((chars) => isTaken({ type: 'object', properties: { ['n'.repeat(chars)]: text } }))).toEqual([
      true,
      false,
    ])
  })

  it.each([
    ['A form is flat.', form(text, { allOf: [] })],
    ['A field of a form is flat.', form({ ...text, allOf: [] })],
    [
      'A form has at most 50 fields.',
      {
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`f${index}`, { allOf: [] }])),
      },
    ],
    ['A form has at most 50000 characters.', form({ ...text, enum: Array(20_000).fill('abc') })],
  ])('says one thing that is wrong: %s', (message, given) => {
    expect(QuestionForm.safeParse(given).error?.issues.map((issue) => issue.message)).toEqual([message])
  })

  it.each([
    { type: 'array', properties: {} },
    { type: 'object' },
    form(text, { required: 'a' }),
    form(text, { required: [1] }),
    form('text'),
    form(null),
    form({ ...text, minLength: '1' }),
    form({ ...text, oneOf: [{ title: 'A' }] }),
    form({ ...text, default: 1 }),
    form({ type: 'boolean', default: 'yes' }),
    form({ type: 'number', default: 'one' }),
    form({ type: 'array' }),
    form({ type: 'array', items: { type: 'number', enum: ['a'] } }),
    form({ type: 'array', items: { type: 'string', enum: ['a'] }, default: [1] }),
  ])('is refused when it is none of the protocol (%#)', (given) => {
    expect(QuestionForm.safeParse(given).success).toBe(false)
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
    expect(QuestionForm.safeParse(given).success).toBe(false)
  })
})
