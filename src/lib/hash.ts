import { hash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { isPlainObject } from './is-plain-object.ts'

const MAX_KNOWN_LENGTH = 1_000_000
let known = { text: '', hash: '' }

/** SHA-256 in hex. */
export function sha256(content: string | Uint8Array): string {
  if (content === known.text && content !== '') return known.hash
  return hash('sha256', content, 'hex')
}

/** Tells the hash of a text that was hashed as bytes: as the result of a call it is asked for again soon. */
export function noteTextHash(text: string, hash: string): void {
  if (text.length <= MAX_KNOWN_LENGTH) known = { text, hash }
}

/** SHA-256 of the canonical JSON (RFC 8785) of a value: equal values, equal hashes, whatever the order of keys. */
export function hashJson(value: unknown): string {
  return sha256((isInOrder(value) ? JSON.stringify(value) : (sortedJson(value) ?? canonicalize(value))) ?? 'undefined')
}

/** The canonical form of plain data, several times as fast as `canonicalize`, which is left with all other values. */
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

/** Of a flat record, which most arguments are, a list of keys also says the order. */
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

/** Whether `JSON.stringify` writes the canonical form already: all keys sorted. Most arguments are, and it is quicker. */
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
