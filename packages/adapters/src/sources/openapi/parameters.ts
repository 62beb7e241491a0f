import { isPlainObject } from '@tool-hub/core/lib'
import type { JsonRecord } from './read-document.ts'

/** Where a parameter is sent. */
export type ParameterLocation = 'path' | 'query' | 'header' | 'cookie'

/** How lists and objects are serialised. */
export type Style = 'form' | 'simple' | 'label' | 'matrix' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject'

/** A parameter of an operation. */
export interface Parameter {
  /** Its name among the arguments of the tool. */
  readonly key: string
  /** Its name in the request. */
  readonly name: string
  readonly place: ParameterLocation
  readonly isRequired: boolean
  readonly style: Style
  readonly explode: boolean
  /** Leaves characters such as `/` and `:` as they are. */
  readonly allowReserved: boolean
  /** Serialised as JSON, whatever its type. */
  readonly isJson: boolean
  readonly schema: JsonRecord
}

/** The styles that a location allows, its default first. */
export const STYLES: Readonly<Record<ParameterLocation, readonly Style[]>> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
}

/** How one value of a parameter or form field is serialised. */
type Writing = Pick<Parameter, 'name' | 'style' | 'explode' | 'allowReserved' | 'isJson'>

type Encode = (text: string) => string
type Pair = readonly [key: string, value: string]

const MAX_DEPTH = 5

/** Serialises a parameter for a query, a form or a cookie: `color=blue`, one text per pair. */
export function serialisePairs(writing: Writing, value: unknown): string[] {
  const { name, style, explode, isJson } = writing
  const encode = encoderOf(writing)
  if (isJson) return [`${encodeStrictly(name)}=${encode(JSON.stringify(value))}`]
  if (style === 'deepObject' && isPlainObject(value)) return deepPairs(name, value, encode, 1)
  const write = ([key, text]: Pair) => `${encodeStrictly(key)}=${encode(text)}`
  if (Array.isArray(value)) {
    const texts = value.filter(isThere).map(toText)
    if (texts.length === 0) return []
    if (explode) return texts.map((text) => write([name, text]))
    return [`${encodeStrictly(name)}=${texts.map(encode).join(delimiterOf(style))}`]
  }
  if (!isPlainObject(value)) return [write([name, toText(value)])]
  const pairs = pairsOf(value)
  if (explode) return pairs.map(write)
  if (pairs.length === 0) return []
  return [`${encodeStrictly(name)}=${pairs.flat().map(encode).join(delimiterOf(style))}`]
}

/** Serialises a parameter for a path: `5`, `.5`, `;id=5`. */
export function serialisePath({ name, style, explode, isJson }: Writing, value: unknown): string {
  if (isJson) return encodeStrictly(JSON.stringify(value))
  const first = style === 'simple' ? '' : style === 'label' ? '.' : ';'
  const between = !explode || style === 'simple' ? ',' : first
  const named = style === 'matrix' ? `${encodeStrictly(name)}=` : ''
  if (Array.isArray(value)) {
    const texts = value.filter(isThere).map((item) => encodeStrictly(toText(item)))
    if (explode && style === 'matrix') return texts.map((text) => `;${named}${text}`).join('')
    return first + named + texts.join(between)
  }
  if (!isPlainObject(value)) return first + named + encodeStrictly(toText(value))
  const pairs = pairsOf(value).map((pair) => pair.map(encodeStrictly))
  if (explode) return first + pairs.map((pair) => pair.join('=')).join(between)
  return first + named + pairs.flat().join(',')
}

/** Serialises a parameter for a header, without encoding; the guard refuses what a header cannot contain. */
export function serialiseHeader({ explode, isJson }: Writing, value: unknown): string {
  if (isJson) return JSON.stringify(value)
  if (Array.isArray(value)) return value.filter(isThere).map(toText).join(',')
  if (!isPlainObject(value)) return toText(value)
  return pairsOf(value)
    .map(([key, text]) => (explode ? `${key}=${text}` : `${key},${text}`))
    .join(',')
}

/** `filter[color]=blue`; lists repeat their name. */
function deepPairs(name: string, value: Readonly<Record<string, unknown>>, encode: Encode, depth: number): string[] {
  return Object.entries(value).flatMap(([key, part]) => {
    const path = `${name}[${key}]`
    if (isPlainObject(part) && depth < MAX_DEPTH) return deepPairs(path, part, encode, depth + 1)
    return [part]
      .flat()
      .filter(isThere)
      .map((item) => `${encodeStrictly(path)}=${encode(toText(item))}`)
  })
}

function pairsOf(value: Readonly<Record<string, unknown>>): Pair[] {
  return Object.entries(value)
    .filter(([, part]) => isThere(part))
    .map(([key, part]) => [key, toText(part)])
}

/** Values inside lists and objects are serialised as JSON. */
function toText(value: unknown): string {
  if (typeof value === 'object' && value !== null) return JSON.stringify(value)
  return String(value ?? '')
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null
}

function delimiterOf(style: Style): string {
  if (style === 'spaceDelimited') return '%20'
  return style === 'pipeDelimited' ? '%7C' : ','
}

/** Not `&`, `#`, `+` and `=`: they would start another pair or part, whatever the document allows. */
const RESERVED = /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/g

function encoderOf({ allowReserved }: Writing): Encode {
  if (!allowReserved) return encodeStrictly
  return (text) => encodeStrictly(text).replaceAll(RESERVED, decodeURIComponent)
}

/** Encodes as RFC 3986, including the five characters that `encodeURIComponent` leaves. */
function encodeStrictly(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
}
