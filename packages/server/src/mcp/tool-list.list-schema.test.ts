import { expect, it } from 'vitest'
import { listSchema } from './tool-list.ts'

it('promises no arguments as headers, and leaves all else as it is', () => {
  const header = { 'x-mcp-header': 'Region' }
  const text = { type: 'string', default: header, enum: [header], examples: [header] }
  const form = (extra: object) => ({
    type: 'object',
    properties: { region: { ...text, ...extra }, 'x-mcp-header': { type: 'string' } },
    $defs: { zone: { anyOf: [{ ...text, ...extra }, true] } },
    additionalProperties: { items: { ...text, ...extra } },
    required: ['x-mcp-header'],
  })
  expect(listSchema(form(header))).toEqual(form({}))
})
