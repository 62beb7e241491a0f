import { hash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { isPlainObject } from './is-plain-object.ts'

const LONGEST_KNOWN = 1_000_000
let known = { text: '', hash: '' }

/** SHA-256 in hex. */
export function sha256(content: string | Uint8Array): string {
  if (content === known.text && content !== '') return known.hash
  return hash('sha256', content, 'hex')
}

/** Tells the hash of a text that was hashed as bytes: as the result of a call it is asked for again soon. */
export function noteTextHash(text: string, hash: string): void {
  if (text.length <= LONGEST_KNOWN) known = { text, hash }
}

/** SHA-256 of the canonical JSON (RFC 8785) of a value: equal values, equal hashes, whatever the order of keys. */
export function hashJson(value: unknown): string {
  return sha256((isInOrder(value) ? JSON.stringify(value) : (sortedJson(value) ?? canonicalize(value))) ?? 'undefined')
}

/** The canonical form of a flat record, which most arguments are; a list of keys also says their order. */
function sortedJson(value: unknown): string | undefined {
  if (!isPlainObject(value)) return undefined
  const keys = Object.keys(value)
  if (keys.some((key) => typeof value[key] === 'object' && value[key] !== null)) return undefined
  return JSON.stringify(value, keys.sort())
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
