import { ToolError } from '../../errors.ts'
import { isPlainObject } from '../../value/is-plain-object.ts'
import type { SchemaConverter } from './convert-schema.ts'
import { dereference } from './find-reference.ts'
import { type JsonObject, ownList, ownObject, ownText, ownValue } from './own-value.ts'
import { type Parameter, type Place, STYLES, type Style } from './parameter.ts'
import type { OpenApiDocument } from './read-document.ts'
import { shortText } from './short-text.ts'

/** Set by the body, by what the caller can read, and by `auth`: the specification leaves them out, too. */
const OWN_HEADERS: ReadonlySet<string> = new Set(['accept', 'content-type', 'authorization'])
/** The network guard sets these itself. */
const GUARDED_HEADERS =
  /^(host|content-length|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|cookie|proxy-.*)$/
const RESERVED_KEYS: ReadonlySet<string> = new Set(['body', 'constructor', 'prototype', '__proto__'])
const MOST_PARAMETERS = 200
const MOST_KEY_CHARS = 64
const MOST_WORDS = 500

/** The parameters of an operation: those of its path, and its own, which win. Those that `auth` fills in are nobody's. */
export function readParameters(
  document: OpenApiDocument,
  sources: readonly JsonObject[],
  converter: SchemaConverter,
  filled: ReadonlySet<string>,
): Parameter[] {
  const found = new Map<string, JsonObject>()
  for (const given of sources.flatMap((source) => ownList(source, 'parameters'))) {
    const parameter = dereference(document, given) as JsonObject
    const name = ownText(parameter, 'name')
    const place = ownText(parameter, 'in')
    if (name === undefined || !isPlace(place)) throw broken('A parameter has no name, or no place that is known.')
    if (!isLeftOut(place, name, filled, ownValue(parameter, 'required') === true))
      found.set(`${place} ${name}`, parameter)
  }
  if (found.size > MOST_PARAMETERS) throw broken(`It has ${found.size} parameters, the limit is ${MOST_PARAMETERS}.`)
  const keys = new Set<string>()
  return [...found.values()].map((parameter) => readParameter(parameter, keys, converter))
}

function isPlace(place: unknown): place is Place {
  return typeof place === 'string' && Object.hasOwn(STYLES, place)
}

function isLeftOut(place: Place, name: string, filled: ReadonlySet<string>, isRequired: boolean): boolean {
  if (place !== 'header') return false
  const lower = name.toLowerCase()
  return OWN_HEADERS.has(lower) || filled.has(lower) || (GUARDED_HEADERS.test(lower) && !isRequired)
}

function readParameter(given: JsonObject, keys: Set<string>, converter: SchemaConverter): Parameter {
  const name = ownText(given, 'name')!
  const place = ownText(given, 'in') as Place
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

function readStyle(place: Place, given: string | undefined): Style {
  const [usual] = STYLES[place] as [Style]
  const style = STYLES[place].find((each) => each === (given ?? usual))
  if (style) return style
  throw broken(`Its ${place} has a parameter of the style ${shortText(String(given), 30)}, which there is none.`)
}

function readExplode(given: JsonObject, style: Style): boolean {
  const explode = ownValue(given, 'explode')
  return typeof explode === 'boolean' ? explode : style === 'form'
}

/** Model providers take few characters in names of arguments; and two parameters may have one name in different places. */
function newKey(place: Place, name: string, keys: Set<string>): string {
  const plain = name.replaceAll(/[^A-Za-z0-9_.-]+/g, '_').slice(0, MOST_KEY_CHARS) || place
  const prefixed = `${place}_${plain}`.slice(0, MOST_KEY_CHARS - 4)
  let key = RESERVED_KEYS.has(plain) || keys.has(plain) ? prefixed : plain
  for (let count = 2; keys.has(key); count++) key = `${prefixed}_${count}`
  keys.add(key)
  return key
}

/** What a parameter says of itself goes before what its schema says. */
function convertDescribed(schema: unknown, words: string | undefined, converter: SchemaConverter): JsonObject {
  if (!words) return converter.convert(schema)
  if (isPlainObject(schema) && ownText(schema, '$ref') === undefined)
    return converter.convert({ ...schema, description: words })
  return { ...converter.convert(schema), description: shortText(words, MOST_WORDS) }
}

function broken(message: string): ToolError {
  return new ToolError('CONFIG_INVALID', message)
}
