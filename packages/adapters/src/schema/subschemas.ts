import { pointerKeys, valueAt } from '@tool-hub/core/lib'
import type { JsonObject } from '@tool-hub/core/schema'

/** Keywords whose value is one schema, a list of schemas, or schemas by name; all others have plain values. */
const SINGLE = new Set(['items', 'contains', 'additionalProperties', 'propertyNames', 'not', 'if', 'then', 'else'])
for (const keyword of ['unevaluatedItems', 'unevaluatedProperties', 'contentSchema']) SINGLE.add(keyword)
const LISTS = new Set(['prefixItems', 'allOf', 'anyOf', 'oneOf'])
const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])

/** Returns the schema with `change` applied to each direct subschema. */
export function mapSubschemas(schema: JsonObject, change: (subschema: unknown) => unknown): JsonObject {
  const entries = Object.entries(schema).map(([keyword, value]) => [keyword, mapKeyword(keyword, value, change)])
  return Object.fromEntries(entries)
}

/** Resolves a reference within a schema. Returns `undefined` if that part does not exist. */
export function resolveReference(root: JsonObject, reference: string): unknown {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return undefined
  return valueAt(root, pointerKeys(decodeFragment(reference.slice(1))))
}

/** Whether a schema is an object, and not just `true` or `false`. */
export function isSchemaObject(schema: unknown): schema is JsonObject {
  return typeof schema === 'object' && schema !== null && !Array.isArray(schema)
}

/** Its properties by name; empty if it has none. */
export function propertiesOf(schema: JsonObject): JsonObject {
  return isSchemaObject(schema.properties) ? schema.properties : {}
}

/** The names of its required properties. */
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
    // A plain percent sign, not an encoding.
    return fragment
  }
}

const OBJECT_KEYWORDS = ['properties', 'required', 'additionalProperties', 'minProperties', 'maxProperties']
const ARRAY_KEYWORDS = ['items', 'minItems', 'maxItems', 'uniqueItems']
const ANNOTATIONS = ['title', 'description', 'default', 'examples', '$comment', 'deprecated']

/** The types that a schema names, or implies by its values or keywords; empty if it implies none. */
export function typesOf(schema: JsonObject): readonly string[] {
  const { type, enum: values, const: value } = schema
  if (typeof type === 'string') return [type]
  if (Array.isArray(type)) return [...new Set(type.map(String))]
  if (Array.isArray(values)) return [...new Set(values.map(typeOfValue))]
  if (value !== undefined) return [typeOfValue(value)]
  if (OBJECT_KEYWORDS.some((keyword) => keyword in schema)) return ['object']
  return ARRAY_KEYWORDS.some((keyword) => keyword in schema) ? ['array'] : []
}

/** The part of a schema with several types that applies to one of them. */
export function forType(schema: JsonObject, type: string): JsonObject {
  const others = [
    ...(type === 'object' ? [] : OBJECT_KEYWORDS),
    ...(type === 'array' ? [] : ARRAY_KEYWORDS),
    ...ANNOTATIONS,
  ]
  const own = Object.entries(schema).filter(([keyword]) => !others.includes(keyword))
  return { ...Object.fromEntries(own), type }
}

/** Splits a schema into annotations for its reader and restrictions of its values. */
export function splitAnnotations(schema: JsonObject): { annotations: JsonObject; rest: JsonObject } {
  const entries = Object.entries(schema)
  return {
    annotations: Object.fromEntries(entries.filter(([keyword]) => ANNOTATIONS.includes(keyword))),
    rest: Object.fromEntries(entries.filter(([keyword]) => !ANNOTATIONS.includes(keyword))),
  }
}

function typeOfValue(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** Why the keys of an object cannot be listed, as strict mode requires; `undefined` if they can. */
export function findOpen(schema: JsonObject, { isRoot }: { readonly isRoot: boolean }): string | undefined {
  const { additionalProperties, unevaluatedProperties } = schema
  const names = new Set(Object.keys(propertiesOf(schema)))
  if (additionalProperties === true || isSchemaObject(additionalProperties)) return 'takes keys that it does not name'
  if (isSchemaObject(unevaluatedProperties)) return 'takes keys that it does not name'
  // A tool without arguments has an empty list of properties.
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

/** Whether a schema may accept null; true in doubt. */
export function acceptsNull(schema: unknown, root: JsonObject, known: Map<unknown, boolean> = new Map()): boolean {
  if (!isSchemaObject(schema)) return schema !== false
  const answer = known.get(schema)
  if (answer !== undefined) return answer
  // A schema that contains itself through references alone accepts what the rest of it accepts.
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
