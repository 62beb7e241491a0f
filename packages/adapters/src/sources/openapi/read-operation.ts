import { ToolError } from '@tool-hub/core'
import { isPlainObject } from '@tool-hub/core/lib'
import { SchemaConverter } from './convert-schema.ts'
import type { OpenApiOptions } from './options.ts'
import { type Parameter, type ParameterLocation, STYLES, type Style } from './parameters.ts'
import { type Body, readRequestBody } from './read-body.ts'
import {
  dereference,
  type JsonRecord,
  type OpenApiDocument,
  ownList,
  ownObject,
  ownText,
  ownValue,
  shortText,
} from './read-document.ts'

/** Set by the body, by the accepted formats and by `auth`: the specification excludes them too. */
const OWN_HEADERS: ReadonlySet<string> = new Set(['accept', 'content-type', 'authorization'])

/** The network guard sets these itself. */
const GUARDED_HEADERS =
  /^(host|content-length|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|cookie|proxy-.*)$/

const RESERVED_KEYS: ReadonlySet<string> = new Set(['body', 'constructor', 'prototype', '__proto__'])

const MAX_PARAMETERS = 200

const MAX_KEY_CHARS = 64

const MAX_WORDS = 500

const VARIABLE = /\{([^{}]+)\}/g

/** An operation, ready to be called. */
export interface Operation {
  readonly method: string
  /** With its parameters in braces. */
  readonly path: string
  readonly server: string
  readonly parameters: readonly Parameter[]
  readonly body: Body | undefined
  /** Schema of the arguments of its tool. */
  readonly input: JsonRecord
  /** Headers of every request; secrets by name. */
  readonly headers: Readonly<Record<string, string>>
}

/** Where an operation is in its document. */
export interface LocatedOperation {
  readonly method: string
  readonly path: string
  readonly pathItem: JsonRecord
  readonly operation: JsonRecord
}

const ASKING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Reads one operation. Throws if it cannot be a tool. */
export function readOperation(
  document: OpenApiDocument,
  { method, path, pathItem, operation }: LocatedOperation,
  { server }: OpenApiOptions,
  auth: Readonly<Record<string, string>>,
): Operation {
  const converter = new SchemaConverter(document)
  const isPublic = isEmptyList(ownValue(operation, 'security'))
  const parameters = readParameters(document, [pathItem, operation], converter, new Set(Object.keys(auth)))
  checkPath(path, parameters)
  const body = bodyOf(document, method, operation, converter)
  return {
    method,
    path,
    server: serverUrl([operation, pathItem, document.root], server),
    parameters,
    body,
    input: inputSchema(parameters, body, converter),
    headers: isPublic ? {} : auth,
  }
}

/** Whether the document says that no authentication is needed. */
function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

function bodyOf(document: OpenApiDocument, method: string, operation: JsonRecord, converter: SchemaConverter) {
  if (!ASKING.has(method)) return readRequestBody(document, operation, converter)
  if (ownValue(operation, 'requestBody') === undefined) return undefined
  throw new ToolError('CONFIG_INVALID', `It is a ${method} with a body, which many servers and proxies drop.`)
}

function checkPath(path: string, parameters: readonly Parameter[]): void {
  if (!/^\/[^?#]*$/.test(path)) throw new ToolError('CONFIG_INVALID', 'Its path is none: "/…" without ? and #.')
  const known = new Set(parameters.filter(({ place }) => place === 'path').map(({ name }) => name))
  const named = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name!)
  const missing = named.find((name) => !known.has(name))
  if (missing === undefined) return
  throw new ToolError('CONFIG_INVALID', `Its path has the parameter ${missing}, which is not described.`)
}

function inputSchema(parameters: readonly Parameter[], body: Body | undefined, converter: SchemaConverter): JsonRecord {
  const properties = parameters.map(({ key, schema }) => [key, schema] as const)
  const required = parameters.filter(({ isRequired }) => isRequired).map(({ key }) => key)
  const definitions = converter.definitions()
  return {
    type: 'object',
    properties: Object.fromEntries(body ? [...properties, ['body', body.schema]] : properties),
    required: body?.isRequired ? [...required, 'body'] : required,
    additionalProperties: false,
    ...(definitions && { $defs: definitions }),
  }
}

/** The base URL: the configured one, or the first server of the operation, its path or the document. */
function serverUrl(sources: readonly JsonRecord[], server: OpenApiOptions['server']): string {
  if (typeof server === 'string') return checked(server)
  const given = sources.map((source) => ownList(source, 'servers')[0]).find((each) => each !== undefined)
  const url = ownText(given, 'url')
  if (url === undefined) throw nowhere('the document names no server')
  const variables = ownObject(given, 'variables')
  return checked(url.replaceAll(VARIABLE, (_, name: string) => variableValue(name, variables, server?.variables)))
}

function variableValue(name: string, variables: JsonRecord, given: Readonly<Record<string, string>> = {}): string {
  const variable = ownObject(variables, name)
  const value = Object.hasOwn(given, name) ? given[name] : ownText(variable, 'default')
  if (value === undefined) throw nowhere(`its server has the variable ${shortText(name, 50)}, which has no value`)
  const allowed = ownList(variable, 'enum')
  if (allowed.length === 0 || allowed.includes(value)) return value
  throw nowhere(`${shortText(name, 50)} of its server is one of ${shortText(allowed.join(', '), 200)}`)
}

function checked(text: string): string {
  const shown = JSON.stringify(shortText(text, 200))
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) throw nowhere(`its server ${shown} is not an absolute URL`)
  const { username, password, search, hash } = new URL(text)
  if (username || password || search || hash || text.includes('?') || text.includes('#'))
    throw nowhere(`its server ${shown} has more than a host and a path`)
  return text.replace(/\/+$/, '')
}

function nowhere(why: string): ToolError {
  return new ToolError('CONFIG_INVALID', `It is not known where the API is: ${why}.`, {
    hint: 'Say it with the option server: "https://api.example.org/v1".',
  })
}

/**
 * The parameters of an operation: those of its path, overridden by its own. Those that `auth` fills in are left out.
 */
function readParameters(
  document: OpenApiDocument,
  sources: readonly JsonRecord[],
  converter: SchemaConverter,
  filled: ReadonlySet<string>,
): Parameter[] {
  const found = new Map<string, JsonRecord>()
  for (const given of sources.flatMap((source) => ownList(source, 'parameters'))) {
    const parameter = dereference(document, given) as JsonRecord
    const name = ownText(parameter, 'name')
    const place = ownText(parameter, 'in')
    if (name === undefined || !isLocation(place)) throw broken('A parameter has no name, or no place that is known.')
    if (!isLeftOut(place, name, filled, ownValue(parameter, 'required') === true))
      found.set(`${place} ${name}`, parameter)
  }
  if (found.size > MAX_PARAMETERS) throw broken(`It has ${found.size} parameters, the limit is ${MAX_PARAMETERS}.`)
  const keys = new Set<string>()
  return [...found.values()].map((parameter) => readParameter(parameter, keys, converter))
}

function isLocation(place: unknown): place is ParameterLocation {
  return typeof place === 'string' && Object.hasOwn(STYLES, place)
}

function isLeftOut(place: ParameterLocation, name: string, filled: ReadonlySet<string>, isRequired: boolean): boolean {
  if (place !== 'header') return false
  const lower = name.toLowerCase()
  return OWN_HEADERS.has(lower) || filled.has(lower) || (GUARDED_HEADERS.test(lower) && !isRequired)
}

function readParameter(given: JsonRecord, keys: Set<string>, converter: SchemaConverter): Parameter {
  const name = ownText(given, 'name')!
  const place = ownText(given, 'in') as ParameterLocation
  if (place === 'header' && GUARDED_HEADERS.test(name.toLowerCase()))
    throw broken(`Its header ${shortText(name, 50)} is set by the network guard.`)
  const style = readStyle(place, ownText(given, 'style'))
  const [mediaType] = Object.keys(ownObject(given, 'content'))
  const holder = mediaType === undefined ? given : ownObject(ownObject(given, 'content'), mediaType)
  return {
    key: newKey(place, name, keys),
    name,
    place,
    isRequired: place === 'path' || ownValue(given, 'required') === true,
    style,
    explode: readExplode(given, style),
    allowReserved: ownValue(given, 'allowReserved') === true,
    isJson: mediaType !== undefined,
    schema: convertDescribed(ownValue(holder, 'schema'), ownText(given, 'description'), converter),
  }
}

function readStyle(place: ParameterLocation, given: string | undefined): Style {
  const [usual] = STYLES[place] as [Style]
  const style = STYLES[place].find((each) => each === (given ?? usual))
  if (style) return style
  throw broken(`Its ${place} has a parameter of the style ${shortText(String(given), 30)}, which there is none.`)
}

function readExplode(given: JsonRecord, style: Style): boolean {
  const explode = ownValue(given, 'explode')
  return typeof explode === 'boolean' ? explode : style === 'form'
}

/**
 * Model providers allow few characters in argument names, and two parameters may have the same name in different
 * locations.
 */
function newKey(place: ParameterLocation, name: string, keys: Set<string>): string {
  const plain = name.replaceAll(/[^A-Za-z0-9_.-]+/g, '_').slice(0, MAX_KEY_CHARS) || place
  const prefixed = `${place}_${plain}`.slice(0, MAX_KEY_CHARS - 4)
  let key = RESERVED_KEYS.has(plain) || keys.has(plain) ? prefixed : plain
  for (let count = 2; keys.has(key); count++) key = `${prefixed}_${count}`
  keys.add(key)
  return key
}

/** The description of a parameter wins over that of its schema. */
function convertDescribed(schema: unknown, words: string | undefined, converter: SchemaConverter): JsonRecord {
  if (!words) return converter.convert(schema)
  if (isPlainObject(schema) && ownText(schema, '$ref') === undefined)
    return converter.convert({ ...schema, description: words })
  return { ...converter.convert(schema), description: shortText(words, MAX_WORDS) }
}

function broken(message: string): ToolError {
  return new ToolError('CONFIG_INVALID', message)
}
