import { ToolError } from '../../errors.ts'
import { cloneJson } from '../../schema/clone-json.ts'
import { linearRegExp } from '../../schema/linear-regexp.ts'
import { isPlainObject } from '../../value/is-plain-object.ts'
import { findReference } from './find-reference.ts'
import { isPlainKeyword } from './is-plain-keyword.ts'
import { modernKeywords } from './modern-keywords.ts'
import { type JsonObject, ownText, ownValue } from './own-value.ts'
import type { OpenApiDocument } from './read-document.ts'
import { shortText } from './short-text.ts'

/** Keywords that hold one schema, several, or some by name. */
const ONE = 'items contains additionalProperties propertyNames not if then else unevaluatedItems unevaluatedProperties'
const SEVERAL = 'allOf anyOf oneOf prefixItems'
const NAMED = 'properties dependentSchemas'

const FORMS: ReadonlyMap<string, 'one' | 'several' | 'named'> = new Map([
  ...ONE.split(' ').map((keyword) => [keyword, 'one'] as const),
  ...SEVERAL.split(' ').map((keyword) => [keyword, 'several'] as const),
  ...NAMED.split(' ').map((keyword) => [keyword, 'named'] as const),
])

const MOST_PARTS = 10_000
const DEEPEST = 40
const MOST_WORDS = 500
const MOST_DEFAULT_CHARS = 60

/**
 * Copies schemas of one operation out of a document, as JSON Schema 2020-12. What they refer to comes along once, under
 * `$defs`, so that circles stay circles and nothing explodes.
 */
export class SchemaConverter {
  readonly #document: OpenApiDocument
  /** Names under `$defs` by the place in the document. */
  readonly #names = new Map<string, string>()
  readonly #waiting: { readonly name: string; readonly schema: unknown }[] = []
  #partsLeft = MOST_PARTS

  constructor(document: OpenApiDocument) {
    this.#document = document
  }

  convert(schema: unknown, depth = 0): JsonObject {
    this.#spend(depth)
    if (schema === false) return { not: {} }
    if (!isPlainObject(schema)) return {}
    const reference = ownText(schema, '$ref')
    // In 3.0 nothing beside a reference counts.
    if (reference !== undefined && this.#document.is30) return this.#refer(reference)
    const modern = this.#document.is30 ? modernKeywords(schema) : schema
    return { ...(reference !== undefined && this.#refer(reference)), ...this.#keywords(modern, depth) }
  }

  /** All that was referred to so far. */
  definitions(): JsonObject | undefined {
    const definitions: [string, JsonObject][] = []
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      definitions.push([next.name, this.convert(next.schema)])
    }
    return definitions.length > 0 ? Object.fromEntries(definitions) : undefined
  }

  #keywords(schema: JsonObject, depth: number): JsonObject {
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

  #named(schemas: JsonObject, hidden: ReadonlySet<string>, depth: number): JsonObject {
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
  #pattern({ pattern }: JsonObject): [string, unknown][] {
    if (typeof pattern !== 'string') return []
    try {
      linearRegExp(pattern)
      return [['pattern', pattern]]
    } catch {
      return []
    }
  }

  #refer(reference: string): JsonObject {
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
    if (depth <= DEEPEST && this.#partsLeft >= 0) return
    const what = depth > DEEPEST ? `are nested deeper than ${DEEPEST} levels` : `have more than ${MOST_PARTS} parts`
    throw new ToolError('CONFIG_INVALID', `Its schemas ${what}.`)
  }
}

/** What only the server may set is none of the caller's arguments. */
function readOnlyNames(schema: JsonObject): ReadonlySet<string> {
  const properties = ownValue(schema, 'properties')
  if (!isPlainObject(properties)) return NO_NAMES
  const names = Object.entries(properties).filter(([, property]) => ownValue(property, 'readOnly') === true)
  return new Set(names.map(([name]) => name))
}

const NO_NAMES: ReadonlySet<string> = new Set()

/**
 * A default is what the server assumes, so it is told and not filled in: sent along with an update, it would overwrite
 * what was there.
 */
function describe(schema: JsonObject): [string, unknown][] {
  const words = ownText(schema, 'description') ?? ownText(schema, 'title') ?? ''
  const fallback = ownValue(schema, 'default')
  const shown = fallback === undefined ? '' : JSON.stringify(fallback)
  const assumed = shown === '' || shown.length > MOST_DEFAULT_CHARS ? '' : `${shown} unless said.`
  const text = [shortText(words, MOST_WORDS), shortText(assumed, MOST_WORDS)].filter(Boolean).join(' ')
  return text === '' ? [] : [['description', text]]
}
