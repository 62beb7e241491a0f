import { z } from 'zod'
import { type StoredToken, ToolError } from '../../core/index.ts'
import { parseJson } from '../../lib/index.ts'
import { SCOPES, type TokenEntry, tokenLimits } from '../../protocol/index.ts'

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
