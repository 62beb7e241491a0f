import type { JsonObject } from '../../schema/compiled-schema.ts'

/** A schema that also accepts null. */
export function nullable(schema: JsonObject): JsonObject {
  const { type, enum: values, const: value, anyOf, ...rest } = schema
  if (Array.isArray(anyOf)) return { ...rest, anyOf: [...anyOf, { type: 'null' }] }
  const isScalar = typeof type === 'string' ? type !== 'object' && type !== 'array' : Array.isArray(type)
  if (!isScalar) return { anyOf: [schema, { type: 'null' }] }
  const literals = Array.isArray(values) ? values : value === undefined ? undefined : [value]
  return { ...rest, type: [type, 'null'].flat(), ...(literals && { enum: [...literals, null] }) }
}
