import type { JsonObject } from '../../core/schema/index.ts'
import { isSchemaObject, resolveReference } from './subschemas.ts'

/** Whether null may fit a schema; in doubt it does. */
export function acceptsNull(schema: unknown, root: JsonObject, known: Map<unknown, boolean> = new Map()): boolean {
  if (!isSchemaObject(schema)) return schema !== false
  const answer = known.get(schema)
  if (answer !== undefined) return answer
  // What holds itself through references alone accepts what the rest of it does.
  known.set(schema, true)
  const found = look(schema, root, known)
  known.set(schema, found)
  return found
}

function look(schema: JsonObject, root: JsonObject, known: Map<unknown, boolean>): boolean {
  const { type, enum: values, const: value, $ref, anyOf, oneOf, allOf } = schema
  if (type !== undefined && type !== 'null' && !(Array.isArray(type) && type.includes('null'))) return false
  if (value !== undefined && value !== null) return false
  if (Array.isArray(values) && !values.includes(null)) return false
  const isAccepted = (other: unknown) => acceptsNull(other, root, known)
  if (typeof $ref === 'string' && !isAccepted(resolveReference(root, $ref))) return false
  if (Array.isArray(allOf) && !allOf.every(isAccepted)) return false
  return [anyOf, oneOf].every((union) => !Array.isArray(union) || union.some(isAccepted))
}
