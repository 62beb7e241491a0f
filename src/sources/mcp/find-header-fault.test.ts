import { describe, expect, it } from 'vitest'
import { findHeaderFault } from './find-header-fault.ts'

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
    ['an empty name', { properties: { a: { type: 'string', 'x-mcp-header': '' } } }],
    ['a number', { properties: { a: { type: 'number', 'x-mcp-header': 'A' } } }],
    ['twice', { properties: { a: region, b: { type: 'string', 'x-mcp-header': 'REGION' } } }],
    ['in a list', { properties: { a: { type: 'array', items: region } } }],
    ['in a union', { anyOf: [{ properties: { region } }] }],
    ['in a definition', { $defs: { region } }],
    ['the root', { ...region, properties: {} }],
  ])('are at fault: %s', (_, schema) => {
    expect(findHeaderFault(schema)).toMatch(/^its x-mcp-header /)
  })
})
