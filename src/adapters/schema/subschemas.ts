import type { JsonObject } from '../../core/schema/index.ts'
import { pointerKeys, valueAt } from '../../lib/index.ts'

/** Keywords that hold one schema, a list of them, or several by name; all others hold values. */
const SINGLE = new Set(['items', 'contains', 'additionalProperties', 'propertyNames', 'not', 'if', 'then', 'else'])
for (const keyword of ['unevaluatedItems', 'unevaluatedProperties', 'contentSchema']) SINGLE.add(keyword)
const LISTS = new Set(['prefixItems', 'allOf', 'anyOf', 'oneOf'])
const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])

/** The same schema with every schema that it holds directly changed. */
export function mapSubschemas(schema: JsonObject, change: (subschema: unknown) => unknown): JsonObject {
  const entries = Object.entries(schema).map(([keyword, value]) => [keyword, mapKeyword(keyword, value, change)])
  return Object.fromEntries(entries)
}

/** The part of a schema that a reference within it means; undefined when there is none. */
export function resolveReference(root: JsonObject, reference: string): unknown {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return undefined
  return valueAt(root, pointerKeys(decodeFragment(reference.slice(1))))
}

/** True for a schema that is an object, and not just `true` or `false`. */
export function isSchemaObject(schema: unknown): schema is JsonObject {
  return typeof schema === 'object' && schema !== null && !Array.isArray(schema)
}

/** Its properties by name; none when it says nothing of them. */
export function propertiesOf(schema: JsonObject): JsonObject {
  return isSchemaObject(schema.properties) ? schema.properties : {}
}

/** The names that it requires. */
export function requiredOf(schema: JsonObject): readonly string[] {
  return Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === 'string') : []
}

function mapKeyword(keyword: string, value: unknown, change: (subschema: unknown) => unknown): unknown {
  if (SINGLE.has(keyword)) return change(value)
  if (LISTS.has(keyword) && Array.isArray(value)) return value.map(change)
  if (!MAPS.has(keyword) || !isSchemaObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, change(schema)]))
}

function decodeFragment(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    // Not encoded, only a percent sign.
    return fragment
  }
}
