import { createHmac, hash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { isPlainObject } from './json.ts'

const MAX_KNOWN_LENGTH = 1_000_000
let known = { text: '', hash: '' }

/** Returns the SHA-256 hash in hex. */
export function sha256(content: string | Uint8Array): string {
  if (content === known.text && content !== '') return known.hash
  return hash('sha256', content, 'hex')
}

/** Remembers the hash of the last text that was hashed as bytes: as the result of a call it is needed again soon. */
export function noteTextHash(text: string, hash: string): void {
  if (text.length <= MAX_KNOWN_LENGTH) known = { text, hash }
}

/** Returns the SHA-256 hash of the canonical JSON (RFC 8785) of a value, which does not depend on the order of keys. */
export function hashJson(value: unknown): string {
  return sha256((isInOrder(value) ? JSON.stringify(value) : (sortedJson(value) ?? canonicalize(value))) ?? 'undefined')
}

/**
 * Writes plain data in canonical form, several times as fast as `canonicalize`. Returns `undefined` for other values.
 */
function sortedJson(value: unknown): string | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return JSON.stringify(value)
  if (typeof value === 'number') return Number.isFinite(value) ? String(value === 0 ? 0 : value) : undefined
  if (Array.isArray(value)) return sortedList(value)
  return isPlainObject(value) ? sortedRecord(value) : undefined
}

function sortedList(list: readonly unknown[]): string | undefined {
  const items: string[] = []
  for (const item of list) {
    const json = sortedJson(item)
    if (json === undefined) return undefined
    items.push(json)
  }
  return `[${items.join(',')}]`
}

/** Most arguments are flat: for those, the list of keys that `JSON.stringify` takes also sets the order. */
function sortedRecord(record: Readonly<Record<string, unknown>>): string | undefined {
  const keys = Object.keys(record)
  const isFlat = !keys.some((key) => typeof record[key] === 'object' && record[key] !== null)
  keys.sort()
  if (isFlat) return JSON.stringify(record, keys)
  const fields: string[] = []
  for (const key of keys) {
    if (record[key] === undefined) continue
    const json = sortedJson(record[key])
    if (json === undefined) return undefined
    fields.push(`${JSON.stringify(key)}:${json}`)
  }
  return `{${fields.join(',')}}`
}

/** Whether all keys are sorted, so that the faster `JSON.stringify` writes the canonical form. */
function isInOrder(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(isInOrder)
  let last = ''
  for (const key of Object.keys(value)) {
    if (key < last || !isInOrder((value as Record<string, unknown>)[key])) return false
    last = key
  }
  return true
}

/** Strings of at least this length are replaced by their hash. */
const LONG_TEXT = 1_000
const HASH_CHARS = 'sha256:'.length + 64

/** The text from which the hash of a result is made, and the size of the result. */
interface Outline {
  /** The JSON, with `sha256:<hex>` in place of every long string. */
  readonly json: string
  /** Whether no string was replaced. */
  readonly isWhole: boolean
  /** Bytes of the whole JSON, except that escapes in long strings are not counted. */
  readonly bytes: number
}

/** Writes plain data as JSON without its long strings, which would only be encoded to be hashed and thrown away. */
export function outlineJson(data: unknown): Outline {
  const longTexts: string[] = []
  const json = JSON.stringify(outline(data, longTexts))
  let bytes = Buffer.byteLength(json)
  for (const text of longTexts) bytes += Buffer.byteLength(text) - HASH_CHARS
  return { json, bytes, isWhole: longTexts.length === 0 }
}

/** Returns the value itself if it contains no long string. */
function outline(value: unknown, longTexts: string[]): unknown {
  if (typeof value === 'string') {
    if (value.length < LONG_TEXT) return value
    longTexts.push(value)
    return `sha256:${sha256(value)}`
  }
  if (Array.isArray(value)) return outlineList(value, longTexts)
  if (!isPlainObject(value)) return value
  let copy: Record<string, unknown> | undefined
  for (const key of Object.keys(value)) {
    const part = outline(value[key], longTexts)
    if (part === value[key]) continue
    copy ??= { ...value }
    copy[key] = part
  }
  return copy ?? value
}

function outlineList(list: readonly unknown[], longTexts: string[]): readonly unknown[] {
  let copy: unknown[] | undefined
  for (let index = 0; index < list.length; index++) {
    const item = outline(list[index], longTexts)
    if (item === list[index]) continue
    copy ??= [...list]
    copy[index] = item
  }
  return copy ?? list
}

const STANDARD_PREFIX = 'whsec_'

/**
 * Returns the headers of Standard Webhooks. The receiver recomputes the signature over id, timestamp and body; without
 * a secret there is no signature.
 */
export function signWebhook(
  { id, body, at }: { readonly id: string; readonly body: string; readonly at: number },
  secret: string | undefined,
): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000))
  const headers = { 'content-type': 'application/json', 'webhook-id': id, 'webhook-timestamp': timestamp }
  if (secret === undefined) return headers
  const signature = createHmac('sha256', webhookKey(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { ...headers, 'webhook-signature': `v1,${signature}` }
}

/**
 * Returns the signing key of a webhook secret: after `whsec_`, the prefix of the standard's libraries, it is base64.
 */
export function webhookKey(secret: string): Buffer {
  if (!secret.startsWith(STANDARD_PREFIX)) return Buffer.from(secret)
  return Buffer.from(secret.slice(STANDARD_PREFIX.length), 'base64')
}
