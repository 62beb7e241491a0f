import { expect, it } from 'vitest'
import type { ServerToolDefinition } from './definitions.ts'
import { cleanSchema, cleanTexts } from './definitions.ts'

const clean = (definition: Partial<ServerToolDefinition>) =>
  cleanTexts({
    tool: 'x',
    title: undefined,
    description: '',
    input: {},
    output: undefined,
    annotations: {},
    hash: '',
    ...definition,
  })
const HIDDEN = 'a\u{200b}b'

it('a long description is cut, and no character in two', () => {
  const { description } = clean({ description: `${'x'.repeat(3_999)}😀 and more` })
  expect(description).toBe(`${'x'.repeat(3_999)} … [10 characters cut]`)
  expect(clean({ description: `😀${'x'.repeat(3_998)}` }).description).toBe(`😀${'x'.repeat(3_998)}`)
  expect(clean({ description: 'x'.repeat(4_000) }).description).toBe('x'.repeat(4_000))
  expect(clean({ description: 'x'.repeat(4_001) }).description).toBe(`${'x'.repeat(4_000)} … [1 characters cut]`)
})

it('a long title is cut', () => {
  expect(clean({ title: 'x'.repeat(201) }).title).toBe('x'.repeat(200))
  expect(clean({}).title).toBeUndefined()
})

it('the title is that of the annotations if it has no other', () => {
  expect(clean({ annotations: { title: HIDDEN } }).title).toBe('ab')
  expect(clean({ title: 'own', annotations: { title: 'other' } }).title).toBe('own')
  expect(clean({ title: 'own', annotations: { title: 1 } }).title).toBe('own')
  expect(clean({ annotations: { title: 1 } }).title).toBeUndefined()
})

it.each([
  ['name', { tool: HIDDEN }],
  ['title', { title: HIDDEN }],
  ['description', { description: HIDDEN }],
  ['input schema', { input: { properties: { a: { enum: ['b', HIDDEN] } } } }],
  ['input schema', { input: { properties: { [HIDDEN]: {} } } }],
  ['output schema', { output: { title: HIDDEN } }],
  ['annotations', { annotations: { note: [null, 1, HIDDEN] } }],
  ['name, annotations', { tool: HIDDEN, annotations: { title: HIDDEN } }],
])('hidden characters are found in the %s', (place, definition) => {
  expect(clean(definition).hidden).toBe(`its ${place} holds hidden characters`)
})

it('nothing hidden is found where there is nothing', () => {
  const annotations = { title: 'a', list: [1, null, true] }
  expect(
    clean({ title: 'a', description: 'b', input: { a: 1 }, output: { b: null }, annotations }).hidden,
  ).toBeUndefined()
})

it('texts of a schema are cleaned and cut, names and values stay what they are', () => {
  const texts = { title: HIDDEN, description: HIDDEN, $comment: HIDDEN }
  const cleaned = { title: 'ab', description: 'ab', $comment: 'ab' }
  const schema = {
    ...texts,
    enum: [HIDDEN, 1, null],
    properties: { [HIDDEN]: texts, title: { description: 1 } },
    anyOf: [texts],
  }
  expect(cleanSchema(schema)).toEqual({
    ...cleaned,
    enum: [HIDDEN, 1, null],
    properties: { [HIDDEN]: cleaned, title: { description: 1 } },
    anyOf: [cleaned],
  })
  expect(cleanSchema({ description: 'x'.repeat(4_002) }).description).toBe(`${'x'.repeat(4_000)} … [2 characters cut]`)
})
