import { describe, expect, it } from 'vitest'
import { findHeaderFault } from './definitions.ts'

const region = { type: 'string', 'x-mcp-header': 'Region' }

describe('arguments as headers', () => {
  it('are plain ones that only properties lead to', () => {
    expect(
      findHeaderFault({
        properties: { region, place: { properties: { id: { type: 'integer', 'x-mcp-header': 'Id' } } } },
      }),
    ).toBeUndefined()
    expect(findHeaderFault(undefined)).toBeUndefined()
  })

  it.each([
    ['no header', { properties: { a: { type: 'string', 'x-mcp-header': 'a b' } } }],
    ['something behind a name', { properties: { a: { type: 'string', 'x-mcp-header': 'a ' } } }],
    ['something before a name', { properties: { a: { type: 'string', 'x-mcp-header': ' a' } } }],
    ['an empty name', { properties: { a: { type: 'string', 'x-mcp-header': '' } } }],
    ['a name that is not a text', { properties: { a: { type: 'string', 'x-mcp-header': 1 } } }],
    ['no type', { properties: { a: { 'x-mcp-header': 'A' } } }],
    ['among what is not a schema', { properties: [region] }],
    ['deep in a list', { properties: { a: { items: { properties: { region } } } } }],
    ['behind good ones', { properties: { region, b: { type: 'boolean', 'x-mcp-header': 'b c' } } }],
    ['a number', { properties: { a: { type: 'number', 'x-mcp-header': 'A' } } }],
    ['twice', { properties: { a: region, b: { type: 'string', 'x-mcp-header': 'REGION' } } }],
    ['in a list', { properties: { a: { type: 'array', items: region } } }],
    ['in a union', { anyOf: [{ properties: { region } }] }],
    ['in a definition', { $defs: { region } }],
    ['the root', { ...region, properties: {} }],
  ])('are at fault: %s', (_, schema) => {
    expect(findHeaderFault(schema)).toMatch(/^its x-mcp-header /)
  })
  it.each([
    [{ properties: { a: { type: 'string', 'x-mcp-header': 'a b' } } }, 'is not the name of a header'],
    [
      { properties: { a: { type: 'number', 'x-mcp-header': 'A' } } },
      'belongs to an argument that is not a string, integer or boolean',
    ],
    [{ properties: { a: region, b: { type: 'string', 'x-mcp-header': 'REGION' } } }, '"REGION" is there twice'],
    [{ ...region }, 'stands where no argument is'],
  ])('say what is wrong (%#)', (schema, fault) => {
    expect(findHeaderFault(schema)).toBe(`its x-mcp-header ${fault}`)
  })

  it('may be texts, whole numbers, and yes or no, by any name of a header', () => {
    const properties = Object.fromEntries(
      ['string', 'integer', 'boolean'].map((type, index) => [
        type,
        { type, 'x-mcp-header': `!#$%&'*+-.^_\`|~0Zz${index}` },
      ]),
    )
    expect(findHeaderFault({ properties, required: ['string'], title: 'x', default: null })).toBeUndefined()
  })
})
