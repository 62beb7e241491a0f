import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { type StoredToken, ToolError } from '@tool-hub/core'
import { parseJson } from '@tool-hub/core/lib'
import { SCOPES, type TokenEntry, tokenLimits } from '@tool-hub/core/protocol'
import { z } from 'zod'

const TOKEN = /^th_[\w-]{43}$/
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/
const SESSION = /^[\w-]{43}$/

/** Creates an API token: `th_` and 32 random bytes. Secret scanners recognize the prefix. */
export function newTokenSecret(): string {
  return `th_${newSessionSecret()}`
}

/** Creates the value of a session cookie. */
export function newSessionSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Whether a text has the form of an API token. */
export function isTokenSecret(text: string): boolean {
  return TOKEN.test(text)
}

/** Whether a text has the form of a JSON Web Token; an API token never has. */
export function isJwt(text: string): boolean {
  return JWT.test(text)
}

/** Whether a text has the form of a session cookie. */
export function isSessionSecret(text: string): boolean {
  return SESSION.test(text)
}

/** The stored hash of a secret. With 256 random bits, a fast hash cannot be reversed by guessing. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}

/** Compares two texts in constant time. */
export function isSameText(a: string, b: string): boolean {
  return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'))
}

const tokenBody = tokenLimits.extend({
  scopes: z.array(z.enum(SCOPES)),
  /** Absolute folder that relative patterns of its rules start from. */
  base: z.string().startsWith('/'),
})

/** The stored body of a token: everything except name, hash and times. */
export type TokenBody = z.output<typeof tokenBody>

/** Reads the stored body of a token; throws FORBIDDEN if it cannot be read. */
export function readTokenBody({ name, body }: StoredToken): TokenBody {
  const read = tokenBody.safeParse(parseJson(body))
  if (read.success) return read.data
  throw new ToolError('FORBIDDEN', `What the store keeps of token ${name} cannot be read by this version.`, {
    hint: `Revoke it and make a new one: tool-hub tokens revoke ${name}`,
    cause: read.error,
  })
}

/** A token for lists. One that cannot be read has no scope, and can be revoked. */
export function toTokenEntry(stored: StoredToken, now: number): TokenEntry {
  const { id, name, createdAt, expiresAt, usedAt, rotatedAt, previousExpiresAt, previousUsedAt } = stored
  const read = tokenBody.safeParse(parseJson(stored.body))
  const { base: _, ...body } = read.success ? read.data : { base: '', scopes: [] }
  return {
    ...body,
    id,
    name,
    createdAt,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(usedAt !== undefined && { usedAt }),
    ...(rotatedAt !== undefined && { rotatedAt }),
    ...(previousExpiresAt !== undefined &&
      previousExpiresAt > now && {
        previous: { expiresAt: previousExpiresAt, ...(previousUsedAt !== undefined && { usedAt: previousUsedAt }) },
      }),
  }
}
