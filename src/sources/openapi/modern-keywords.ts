import type { JsonObject } from './own-value.ts'

/** One schema of OpenAPI 3.0 in the words of JSON Schema 2020-12; those below it are not looked at. */
export function modernKeywords(schema: JsonObject): JsonObject {
  const { nullable, exclusiveMinimum, exclusiveMaximum, ...others } = schema
  const bounded = {
    ...others,
    ...bound('minimum', 'exclusiveMinimum', schema),
    ...bound('maximum', 'exclusiveMaximum', schema),
  }
  return nullable === true ? orNull(withoutUndefined(bounded)) : withoutUndefined(bounded)
}

type Limit = 'minimum' | 'maximum'
type Exclusive = 'exclusiveMinimum' | 'exclusiveMaximum'

/** `{ minimum: 1, exclusiveMinimum: true }` is `{ exclusiveMinimum: 1 }` now. */
function bound(limit: Limit, exclusive: Exclusive, schema: JsonObject): JsonObject {
  // Documents that were converted by half may have the new form already.
  if (typeof schema[exclusive] === 'number') return { [exclusive]: schema[exclusive] }
  return schema[exclusive] === true ? { [limit]: undefined, [exclusive]: schema[limit] } : {}
}

function orNull(schema: JsonObject): JsonObject {
  const { type, enum: values } = schema
  if (typeof type !== 'string') {
    const { description, ...others } = schema
    return { ...(description !== undefined && { description }), anyOf: [others, { type: 'null' }] }
  }
  const allowed = Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {}
  return { ...schema, type: [type, 'null'], ...allowed }
}

function withoutUndefined(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined))
}
