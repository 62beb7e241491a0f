import { ToolError } from '@tool-hub/core'
import { isPlainObject } from '@tool-hub/core/lib'
import { cloneJson, linearRegExp } from '@tool-hub/core/schema'
import { findReference, type JsonRecord, type OpenApiDocument, ownText, ownValue, shortText } from './read-document.ts'

const NUMBERS = new Set(
  `multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength minItems maxItems minContains
  maxContains minProperties maxProperties`.split(/\s+/),
)

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'])

/** Keywords whose value is one schema, a list of schemas, or schemas by name. */
const ONE = 'items contains additionalProperties propertyNames not if then else unevaluatedItems unevaluatedProperties'
const SEVERAL = 'allOf anyOf oneOf prefixItems'
const NAMED = 'properties dependentSchemas'

const FORMS: ReadonlyMap<string, 'one' | 'several' | 'named'> = new Map([
  ...ONE.split(' ').map((keyword) => [keyword, 'one'] as const),
  ...SEVERAL.split(' ').map((keyword) => [keyword, 'several'] as const),
  ...NAMED.split(' ').map((keyword) => [keyword, 'named'] as const),
])

const MAX_PARTS = 10_000
const MAX_DEPTH = 40
const MAX_WORDS = 500
const MAX_DEFAULT_CHARS = 60

/**
 * Converts the schemas of one operation to JSON Schema 2020-12. Referenced schemas are included once, under `$defs`,
 * so that cycles stay cycles and nothing explodes.
 */
export class SchemaConverter {
  readonly #document: OpenApiDocument
  /** Names under `$defs` by location in the document. */
  readonly #names = new Map<string, string>()
  readonly #waiting: { readonly name: string; readonly schema: unknown }[] = []
  #partsLeft = MAX_PARTS

  constructor(document: OpenApiDocument) {
    this.#document = document
  }

  convert(schema: unknown, depth = 0): JsonRecord {
    this.#spend(depth)
    if (schema === false) return { not: {} }
    if (!isPlainObject(schema)) return {}
    const reference = ownText(schema, '$ref')
    // OpenAPI 3.0 ignores keywords next to a reference.
    if (reference !== undefined && this.#document.is30) return this.#refer(reference)
    const modern = this.#document.is30 ? modernKeywords(schema) : schema
    return { ...(reference !== undefined && this.#refer(reference)), ...this.#keywords(modern, depth) }
  }

  /** All definitions that were referenced so far. */
  definitions(): JsonRecord | undefined {
    const definitions: [string, JsonRecord][] = []
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      definitions.push([next.name, this.convert(next.schema)])
    }
    return definitions.length > 0 ? Object.fromEntries(definitions) : undefined
  }

  #keywords(schema: JsonRecord, depth: number): JsonRecord {
    const hidden = readOnlyNames(schema)
    const entries = Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
      switch (FORMS.get(keyword)) {
        case 'one':
          return [[keyword, typeof value === 'boolean' ? value : this.convert(value, depth + 1)]]
        case 'several':
          return Array.isArray(value) ? [[keyword, value.map((each) => this.convert(each, depth + 1))]] : []
        case 'named':
          return isPlainObject(value) ? [[keyword, this.#named(value, hidden, depth)]] : []
        default:
          return this.#value(keyword, value, hidden)
      }
    })
    return Object.fromEntries([...entries, ...this.#pattern(schema), ...describe(schema)])
  }

  #named(schemas: JsonRecord, hidden: ReadonlySet<string>, depth: number): JsonRecord {
    const shown = Object.entries(schemas).filter(([name]) => !hidden.has(name))
    return Object.fromEntries(shown.map(([name, schema]) => [name, this.convert(schema, depth + 1)]))
  }

  #value(keyword: string, value: unknown, hidden: ReadonlySet<string>): [string, unknown][] {
    if (Array.isArray(value)) this.#partsLeft -= value.length
    if (keyword !== 'required') return isPlainKeyword(keyword, value) ? [[keyword, cloneJson(value)]] : []
    const names = Array.isArray(value) ? value.filter((name) => typeof name === 'string' && !hidden.has(name)) : []
    return names.length > 0 ? [['required', names]] : []
  }

  /** A pattern that cannot be checked in linear time is left to the server. */
  #pattern({ pattern }: JsonRecord): [string, unknown][] {
    if (typeof pattern !== 'string') return []
    try {
      linearRegExp(pattern)
      return [['pattern', pattern]]
    } catch {
      return []
    }
  }

  #refer(reference: string): JsonRecord {
    const { pointer, value } = findReference(this.#document, reference)
    const known = this.#names.get(pointer)
    if (known !== undefined) return { $ref: `#/$defs/${known}` }
    const name = this.#newName(pointer)
    this.#names.set(pointer, name)
    this.#waiting.push({ name, schema: value })
    return { $ref: `#/$defs/${name}` }
  }

  #newName(pointer: string): string {
    const last = pointer.slice(pointer.lastIndexOf('/') + 1).replaceAll(/[^A-Za-z0-9_-]/g, '_')
    const taken = new Set(this.#names.values())
    let name = last || 'schema'
    for (let count = 2; taken.has(name) || name in Object.prototype; count++) name = `${last}_${count}`
    return name
  }

  #spend(depth: number): void {
    this.#partsLeft--
    if (depth <= MAX_DEPTH && this.#partsLeft >= 0) return
    const what = depth > MAX_DEPTH ? `are nested deeper than ${MAX_DEPTH} levels` : `have more than ${MAX_PARTS} parts`
    throw new ToolError('CONFIG_INVALID', `Its schemas ${what}.`)
  }
}

/** Properties that only the server may set are not arguments. */
function readOnlyNames(schema: JsonRecord): ReadonlySet<string> {
  const properties = ownValue(schema, 'properties')
  if (!isPlainObject(properties)) return NO_NAMES
  const names = Object.entries(properties).filter(([, property]) => ownValue(property, 'readOnly') === true)
  return new Set(names.map(([name]) => name))
}

const NO_NAMES: ReadonlySet<string> = new Set()

/**
 * A default is what the server assumes, so it is described and not filled in: sent with an update, it would overwrite
 * what was there.
 */
function describe(schema: JsonRecord): [string, unknown][] {
  const words = ownText(schema, 'description') ?? ownText(schema, 'title') ?? ''
  const fallback = ownValue(schema, 'default')
  const shown = fallback === undefined ? '' : JSON.stringify(fallback)
  const assumed = shown === '' || shown.length > MAX_DEFAULT_CHARS ? '' : `Default: ${shown}.`
  const text = [shortText(words, MAX_WORDS), shortText(assumed, MAX_WORDS)].filter(Boolean).join(' ')
  return text === '' ? [] : [['description', text]]
}

/** Whether a keyword of JSON Schema without subschemas has a valid value: documents are often careless. */
function isPlainKeyword(keyword: string, value: unknown): boolean {
  if (NUMBERS.has(keyword)) return typeof value === 'number' && Number.isFinite(value)
  switch (keyword) {
    case 'type':
      return [value].flat().every((type) => typeof type === 'string' && TYPES.has(type))
    case 'enum':
      return Array.isArray(value) && value.length > 0
    case 'const':
      return true
    case 'format':
      return typeof value === 'string'
    case 'uniqueItems':
      return typeof value === 'boolean'
    case 'dependentRequired':
      return isPlainObject(value) && Object.values(value).every(Array.isArray)
    default:
      return false
  }
}

/** Converts one schema of OpenAPI 3.0 to JSON Schema 2020-12, without its subschemas. */
function modernKeywords(schema: JsonRecord): JsonRecord {
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

/** `{ minimum: 1, exclusiveMinimum: true }` becomes `{ exclusiveMinimum: 1 }`. */
function bound(limit: Limit, exclusive: Exclusive, schema: JsonRecord): JsonRecord {
  // A document that was partly converted may have the new form already.
  if (typeof schema[exclusive] === 'number') return { [exclusive]: schema[exclusive] }
  return schema[exclusive] === true ? { [limit]: undefined, [exclusive]: schema[limit] } : {}
}

function orNull(schema: JsonRecord): JsonRecord {
  const { type, enum: values } = schema
  if (typeof type !== 'string') {
    const { description, ...others } = schema
    return { ...(description !== undefined && { description }), anyOf: [others, { type: 'null' }] }
  }
  const allowed = Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {}
  return { ...schema, type: [type, 'null'], ...allowed }
}

function withoutUndefined(schema: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined))
}
