import { hash } from 'node:crypto'
import canonicalize from 'canonicalize'

/** SHA-256 in hex. */
export function sha256(content: string | Uint8Array): string {
  return hash('sha256', content, 'hex')
}

/** SHA-256 of the canonical JSON (RFC 8785) of a value: equal values, equal hashes, whatever the order of keys. */
export function hashJson(value: unknown): string {
  return sha256(canonicalize(value) ?? 'undefined')
}
