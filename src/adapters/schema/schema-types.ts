import type { JsonObject } from '../../core/schema/index.ts'

const OBJECT_KEYWORDS = ['properties', 'required', 'additionalProperties', 'minProperties', 'maxProperties']
const ARRAY_KEYWORDS = ['items', 'minItems', 'maxItems', 'uniqueItems']
const ANNOTATIONS = ['title', 'description', 'default', 'examples', '$comment', 'deprecated']

/** The types that a schema names, or shows by its values or keywords; none when it shows nothing. */
export function typesOf(schema: JsonObject): readonly string[] {
  const { type, enum: values, const: value } = schema
  if (typeof type === 'string') return [type]
  if (Array.isArray(type)) return [...new Set(type.map(String))]
  if (Array.isArray(values)) return [...new Set(values.map(typeOfValue))]
  if (value !== undefined) return [typeOfValue(value)]
  if (OBJECT_KEYWORDS.some((keyword) => keyword in schema)) return ['object']
  return ARRAY_KEYWORDS.some((keyword) => keyword in schema) ? ['array'] : []
}

/** What a schema of several types says of one of them. */
export function forType(schema: JsonObject, type: string): JsonObject {
  const others = [
    ...(type === 'object' ? [] : OBJECT_KEYWORDS),
    ...(type === 'array' ? [] : ARRAY_KEYWORDS),
    ...ANNOTATIONS,
  ]
  const own = Object.entries(schema).filter(([keyword]) => !others.includes(keyword))
  return { ...Object.fromEntries(own), type }
}

/** What a schema says to its reader, and what it says of values. */
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
