import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { type StoredToken, ToolError } from '../../core/index.ts'
import { parseJson } from '../../lib/index.ts'
import { SCOPES, type TokenEntry, tokenLimits } from '../../protocol/index.ts'

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

const tokenBody = tokenLimits.extend({
  scopes: z.array(z.enum(SCOPES)),
  /** Absolute: the folder that relative patterns of its rules start from. */
  base: z.string().startsWith('/'),
})

/** What the store keeps of a token beside name, hash and times. */
export type TokenBody = z.output<typeof tokenBody>

/** The body of a token out of the store; one that cannot be read opens nothing. */
export function readTokenBody({ name, body }: StoredToken): TokenBody {
  const read = tokenBody.safeParse(parseJson(body))
  if (read.success) return read.data
  throw new ToolError('FORBIDDEN', `What the store keeps of token ${name} cannot be read by this version.`, {
    hint: `Revoke it and make a new one: tool-hub tokens revoke ${name}`,
    cause: read.error,
  })
}

/** A token as lists show it: one that cannot be read has no scope, and can be revoked. */
export function toTokenEntry(stored: StoredToken): TokenEntry {
  const { id, name, createdAt, expiresAt, usedAt } = stored
  const read = tokenBody.safeParse(parseJson(stored.body))
  const { base: _, ...body } = read.success ? read.data : { base: '', scopes: [] }
  return {
    ...body,
    id,
    name,
    createdAt,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(usedAt !== undefined && { usedAt }),
  }
}
