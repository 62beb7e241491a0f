type Form = 'schema' | 'list' | 'map'

/** Keywords that hold schemas, and in which form; everything else (`default`, `enum`, `const`, …) holds values. */
export const FORMS: ReadonlyMap<string, Form> = new Map([
  ...named('schema', ['items', 'contains', 'additionalProperties', 'propertyNames', 'not', 'if', 'then', 'else']),
  ...named('schema', ['unevaluatedItems', 'unevaluatedProperties', 'contentSchema']),
  ...named('list', ['prefixItems', 'allOf', 'anyOf', 'oneOf']),
  ...named('map', ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']),
])

function named(form: Form, keywords: readonly string[]): [string, Form][] {
  return keywords.map((keyword) => [keyword, form])
}
