import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

const TOKEN = /^th_[\w-]{43}$/
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/
const SESSION = /^[\w-]{43}$/

/** A new API token: 32 random bytes behind `th_`, by which scanners find one that leaked. */
export function newTokenSecret(): string {
  return `th_${newSessionSecret()}`
}

/** A new value for the cookie of a session. */
export function newSessionSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Whether a text could be an API token of ours. */
export function isTokenSecret(text: string): boolean {
  return TOKEN.test(text)
}

/** Whether a text could be a JSON Web Token; an API token of ours never is. */
export function isJwt(text: string): boolean {
  return JWT.test(text)
}

/** Whether a text could be the cookie of a session. */
export function isSessionSecret(text: string): boolean {
  return SESSION.test(text)
}

/** What is kept of a secret. It has 256 random bits, so a fast hash cannot be turned back by guessing. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}

/** Compares two texts in a time that says nothing of where they differ. */
export function isSameText(a: string, b: string): boolean {
  return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'))
}
