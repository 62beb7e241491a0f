import { messageOf, ToolError } from '@tool-hub/core'
import { parseYaml } from '@tool-hub/core/document'
import { escapeText, isPlainObject, pointerKeys, valueAt } from '@tool-hub/core/lib'

/** A parsed OpenAPI document. */
export interface OpenApiDocument {
  readonly root: JsonRecord
  /** 3.0 has its own schema dialect; from 3.1 on schemas are JSON Schema 2020-12. */
  readonly is30: boolean
}

const MAX_CHARS = 10_485_760

/**
 * Reads an OpenAPI document from an object or from the text of a JSON or YAML file. Throws CONFIG_INVALID if it is not
 * usable.
 */
export function readOpenApiDocument(given: unknown): OpenApiDocument {
  const root = typeof given === 'string' ? parse(given) : given
  if (!isPlainObject(root)) throw unusable('it is not an object')
  const version = ownText(root, 'openapi')
  if (version === undefined) {
    const isSwagger = ownValue(root, 'swagger') !== undefined
    throw unusable(isSwagger ? 'it is Swagger 2.0' : 'it does not say "openapi: 3…"')
  }
  if (!/^3\.\d/.test(version)) throw unusable(`its version is ${JSON.stringify(version.slice(0, 20))}`)
  return { root, is30: version.startsWith('3.0') }
}

function parse(text: string): unknown {
  if (text.length > MAX_CHARS) throw unusable(`it has ${text.length} characters, the limit is ${MAX_CHARS}`)
  if (/^\s*\{/.test(text)) return parseJson(text)
  return parseYaml(text, 'The OpenAPI document').value
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw unusable(`it is no JSON: ${messageOf(cause).slice(0, 200)}`, cause)
  }
}

function unusable(why: string, cause?: unknown): ToolError {
  return new ToolError('CONFIG_INVALID', `The OpenAPI document cannot be used: ${why}.`, {
    hint: 'Give a document of OpenAPI 3.0 or 3.1; one of Swagger 2.0 has to be converted first.',
    cause,
  })
}

/** An object of a document. */
export type JsonRecord = Readonly<Record<string, unknown>>

/** The own value of a key: keys come from outside, and `constructor` is one too. */
export function ownValue(object: unknown, key: string): unknown {
  return isPlainObject(object) && Object.hasOwn(object, key) ? object[key] : undefined
}

/** The own value if it is an object; otherwise an empty object. */
export function ownObject(object: unknown, key: string): JsonRecord {
  const value = ownValue(object, key)
  return isPlainObject(value) ? value : {}
}

/** The own value if it is a list; otherwise an empty list. */
export function ownList(object: unknown, key: string): readonly unknown[] {
  const value = ownValue(object, key)
  return Array.isArray(value) ? value : []
}

/** The own value if it is a text. */
export function ownText(object: unknown, key: string): string | undefined {
  const value = ownValue(object, key)
  return typeof value === 'string' ? value : undefined
}

/** A text of the document for a model: bounded, with hidden characters escaped. */
export function shortText(text: string, maxChars: number): string {
  const shown = escapeText(text.slice(0, maxChars).replaceAll('\r\n', '\n')).trim()
  return text.length > maxChars ? `${shown}…` : shown
}

/** The target of a reference, and the last reference on the way there. */
interface FoundReference {
  readonly value: unknown
  readonly pointer: string
}

const MAX_HOPS = 20
const CIRCLE = `leads in a circle, or over more than ${MAX_HOPS} others`

/** Resolves the `$ref` of a value, if it has one; only inside the document, never over the network. */
export function dereference(document: OpenApiDocument, given: unknown): unknown {
  let value = given
  for (let hop = 0; hop < MAX_HOPS; hop++) {
    const reference = ownText(value, '$ref')
    if (reference === undefined) return value
    value = findReference(document, reference).value
  }
  throw broken(String(ownText(given, '$ref')), CIRCLE)
}

/** Follows a reference and those it leads to. */
export function findReference({ root }: OpenApiDocument, reference: string): FoundReference {
  let pointer = reference
  for (let hop = 0; hop < MAX_HOPS; hop++) {
    const value = lookUp(root, pointer)
    const next = isPlainObject(value) && Object.keys(value).length === 1 ? ownText(value, '$ref') : undefined
    if (next === undefined) return { value, pointer }
    pointer = next
  }
  throw broken(reference, CIRCLE)
}

function lookUp(root: unknown, pointer: string): unknown {
  if (!pointer.startsWith('#/')) throw broken(pointer, 'is not inside the document, and nothing is fetched')
  const value = valueAt(root, pointerKeys(decode(pointer)))
  if (value === undefined) throw broken(pointer, 'is not in the document')
  return value
}

function decode(pointer: string): string {
  try {
    return decodeURIComponent(pointer)
  } catch {
    // A single % is meant literally.
    return pointer
  }
}

function broken(reference: string, why: string): ToolError {
  return new ToolError('CONFIG_INVALID', `The reference ${JSON.stringify(reference.slice(0, 200))} ${why}.`)
}
