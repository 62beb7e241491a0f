import type { JsonObject } from '../../core/schema/index.ts'
import { isSchemaObject, propertiesOf, requiredOf } from './subschemas.ts'

/** Why the keys of an object cannot be listed, which strict mode wants; undefined when they can. */
export function findOpen(schema: JsonObject, { isRoot }: { readonly isRoot: boolean }): string | undefined {
  const { additionalProperties, unevaluatedProperties } = schema
  const names = new Set(Object.keys(propertiesOf(schema)))
  if (additionalProperties === true || isSchemaObject(additionalProperties)) return 'takes keys that it does not name'
  if (isSchemaObject(unevaluatedProperties)) return 'takes keys that it does not name'
  // A tool without arguments says so by an empty list of them.
  const isSaidEmpty = isRoot && isSchemaObject(schema.properties)
  if (names.size === 0 && !isSaidEmpty && additionalProperties !== false) return 'is an object of any keys'
  const unknown = requiredOf(schema).find((name) => !names.has(name))
  if (unknown !== undefined) return `requires ${JSON.stringify(unknown)}, which it does not describe`
  const isMore = conditions(schema).some((part) => Object.keys(propertiesOf(part)).some((name) => !names.has(name)))
  return isMore ? 'has properties that depend on others' : undefined
}

function conditions({ if: condition, then, else: otherwise, dependentSchemas }: JsonObject): JsonObject[] {
  const dependent = isSchemaObject(dependentSchemas) ? Object.values(dependentSchemas) : []
  return [condition, then, otherwise, ...dependent].filter(isSchemaObject)
}
