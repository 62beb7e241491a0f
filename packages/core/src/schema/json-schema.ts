import { ToolError } from '../errors.ts'
import { deepFreeze, isPlainObject } from '../lib/index.ts'
import type { JsonObject, Side } from './schema.ts'

/** `$async` would make ajv answer with a promise, which is truthy; `id` is draft-04's; `$schema` is noise to a model. */
const DROPPED: ReadonlySet<string> = new Set(['$schema', '$async', 'id'])

/** Where TypeBox keeps code that JSON Schema cannot carry: ignoring it would skip a check. */
const CODE_KEYS: ReadonlySet<string> = new Set(['~refine', '~codec', 'Symbol(TypeBox.Transform)'])

const MAX_DEPTH = 100

/** A frozen JSON Schema 2020-12 copy of what an older draft, TypeBox or a converter wrote. */
export function toModernSchema(schema: object, side: Side): JsonObject {
  return modernObject(schema as JsonObject, { side, pointer: '', depth: 0 })
}

interface Place {
  readonly side: Side
  readonly pointer: string
  readonly depth: number
}

function modern(schema: unknown, place: Place): unknown {
  if (typeof schema === 'boolean') return schema
  if (typeof schema === 'object' && schema !== null && !Array.isArray(schema))
    return modernObject(schema as JsonObject, place)
  throw unusable(place, `must be a schema (an object or a boolean), got ${JSON.stringify(schema)?.slice(0, 60)}`)
}

function modernObject(schema: JsonObject, place: Place): JsonObject {
  if (place.depth > MAX_DEPTH) throw unusable(place, `is over ${MAX_DEPTH} levels deep, or holds itself`)
  const code = Reflect.ownKeys(schema).find((key) => CODE_KEYS.has(String(key)))
  if (code) throw unusable(place, 'has a TypeBox refinement, codec or transform, which JSON Schema cannot check')
  // ajv looks references up in plain objects, where it would find these and take them for schemas.
  if (typeof schema.$ref === 'string' && schema.$ref in Object.prototype)
    throw unusable(place, `refers to "${schema.$ref}", which is not inside it`)

  // fromEntries defines keys, so a property named __proto__ stays a property.
  const entries = Object.entries(tupleToPrefixItems(schema))
    .filter(([keyword, value]) => !DROPPED.has(keyword) && value !== undefined)
    .map(([keyword, value]) => [keyword, modernKeyword(keyword, value, below(place, keyword))] as const)
  return Object.freeze(Object.fromEntries(entries))
}

/** Up to draft 2019-09 (and in TypeBox) a tuple is `items: [...]` with `additionalItems`. */
function tupleToPrefixItems(schema: JsonObject): JsonObject {
  if (!Array.isArray(schema.items)) return schema
  const { items, additionalItems, ...others } = schema
  // An empty `prefixItems` is not allowed: an empty tuple is its `additionalItems` alone.
  const tuple = items.length > 0 ? { prefixItems: items } : {}
  return { ...others, ...tuple, ...(additionalItems === undefined ? {} : { items: additionalItems }) }
}

function modernKeyword(keyword: string, value: unknown, place: Place): unknown {
  const form = FORMS.get(keyword)
  if (form === 'schema') return modern(value, place)
  if (form === 'list' && Array.isArray(value)) {
    return Object.freeze(value.map((schema, index) => modern(schema, below(place, index))))
  }
  if (form === 'map' && typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([key, schema]) => {
      // An entry of draft-07's `dependencies` may be a list of property names.
      const isNames = keyword === 'dependencies' && Array.isArray(schema)
      return [key, isNames ? Object.freeze([...schema]) : modern(schema, below(place, key))]
    })
    return Object.freeze(Object.fromEntries(entries))
  }
  return deepFreeze(cloneJson(value))
}

function below({ side, pointer, depth }: Place, key: string | number): Place {
  return { side, pointer: `${pointer}/${key}`, depth: depth + 1 }
}

function unusable({ side, pointer }: Place, what: string): ToolError {
  const where = pointer === '' ? '' : ` at ${pointer.slice(0, 200)}`
  return new ToolError('CONFIG_INVALID', `The ${side} schema${where} ${what}.`, {
    hint: 'Correct the schema; what it cannot say, check inside execute.',
  })
}

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

/** Copies arrays and plain objects all the way down; an own `__proto__` key stays a key and sets no prototype. */
export function cloneJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(cloneJson)
  if (!isPlainObject(value)) return value
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const part = cloneJson(value[key])
    if (key === '__proto__')
      Object.defineProperty(copy, key, { value: part, enumerable: true, writable: true, configurable: true })
    else copy[key] = part
  }
  return copy
}

/** Formats of JSON Schema for texts that people read. */
const TEXT_FORMATS: ReadonlySet<unknown> = new Set(['text', 'multiline', 'markdown', 'html'])

/** Returns the arguments that a schema marks as texts for people, by format or media type; `undefined` if it marks none. */
export function textArguments({ properties }: JsonObject): readonly string[] | undefined {
  const fields = isPlainObject(properties) ? Object.entries(properties) : []
  const marked = fields.filter(([, field]) => {
    if (!isPlainObject(field) || field.type !== 'string') return false
    return TEXT_FORMATS.has(field.format) || /^text\//.test(String(field.contentMediaType))
  })
  return marked.length === 0 ? undefined : marked.map(([name]) => name)
}
