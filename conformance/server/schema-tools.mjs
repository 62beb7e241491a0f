import { fixture, object } from './fixture.mjs'

/** Tools of which the suite looks at the schema: everything that JSON Schema 2020-12 has, and arguments as headers. */
export const schemaTools = [
  fixture('json_schema_2020_12_tool', 'Tool with JSON Schema 2020-12 features', () => 'Checked.', {
    input: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
  }),
  fixture('test_custom_header', 'Has an argument that clients send as a header too.', ({ region }) => `In ${region}.`, {
    input: object({ region: { type: 'string', 'x-mcp-header': 'Region' } }),
  }),
]
