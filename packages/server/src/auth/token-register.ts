import { randomBytes } from 'node:crypto'
import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, relative, sep } from 'node:path'
import {
  type Clock,
  messageOf,
  type Sandbox,
  type Store,
  type StoredToken,
  systemClock,
  type TokenRotation,
  ToolError,
} from '@tool-hub/core'
import {
  type NewToken,
  newToken,
  type TokenEntry,
  type TokenLimits,
  type TokenOverlap,
  tokenOverlap,
} from '@tool-hub/core/protocol'

import { limitsToRules } from './caller.ts'
import { hashSecret, newTokenSecret, readTokenBody, type TokenBody, toTokenEntry } from './token.ts'

/** The topic of the store's event that a token was revoked: every process closes what the token has open. */
export const REVOKED_TOPIC = 'token-revoked'

/** Manages the tokens in a store; only hashes of their secrets are stored. */
export type TokenRegister = ReturnType<typeof createTokenRegister>

/** What a token may get. */
interface GrantOptions {
  /** The owner creates the token: allow rules, `allowDanger` and any root are accepted. */
  readonly mayAllow?: boolean
}

/** A token with its secret, which is returned only here. */
interface NewSecret {
  readonly token: TokenEntry
  readonly secret: string
}

export interface TokenRegisterOptions {
  readonly store: Pick<Store, 'tokens' | 'signIns' | 'events'>
  readonly clock?: Clock
  /** Absolute. Default: the working folder. */
  readonly base?: string
  /** The roots of the hub; a token that its owner does not create gets none outside of them. */
  readonly roots?: Sandbox['roots']
}

/** Creates, lists, rotates and revokes tokens. Needs no hub, so that the command line can do it while a server runs. */
export function createTokenRegister(options: TokenRegisterOptions) {
  const { store, clock = systemClock, base: ownBase = process.cwd(), roots = [] } = options
  /** Ends what the secrets of a token have open, in every process. */
  const endOpen = async (id: string) => {
    await store.signIns.removeOf(id)
    await store.events.append({ topic: REVOKED_TOPIC, body: JSON.stringify({ id }), at: clock.now() })
  }
  return {
    async list(): Promise<readonly TokenEntry[]> {
      const now = clock.now()
      return (await store.tokens.list()).map((token) => toTokenEntry(token, now))
    },
    /** `base`: the absolute folder that relative patterns of its rules start from. Default: that of the register. */
    async create(
      wish: NewToken,
      { mayAllow = false, base = ownBase }: GrantOptions & { readonly base?: string } = {},
    ): Promise<NewSecret> {
      const now = clock.now()
      const { name, expiresAt, ...limits } = await checkNewToken(wish, { now, mayAllow, base, roots })
      await refuseKnownName(store, name)
      const secret = newTokenSecret()
      const body: TokenBody = { ...limits, scopes: [...new Set(limits.scopes)], base }
      const stored: StoredToken = {
        id: `token-${randomBytes(8).toString('hex')}`,
        name,
        hash: hashSecret(secret),
        body: JSON.stringify(body),
        createdAt: now,
        ...(expiresAt !== undefined && { expiresAt }),
      }
      await store.tokens.add(stored)
      return { token: toTokenEntry(stored, now), secret }
    },
    /**
     * Gives a token another secret; the current one stays valid for the overlap. Returns `undefined` if the token does
     * not exist.
     */
    async rotate(
      id: string,
      overlap: TokenOverlap = {},
      { mayAllow = false }: GrantOptions = {},
    ): Promise<NewSecret | undefined> {
      const now = clock.now()
      const overlapMs = readOverlap(overlap)
      const known = (await store.tokens.list()).find((each) => each.id === id)
      if (!known) return undefined
      const body = readTokenBody(known)
      if (!mayAllow) await refuseBeyond(body, roots)
      if (overlapMs > 0) refuseThirdSecret(known, now)
      const secret = newTokenSecret()
      const rotation = rotationOf(known, { to: hashSecret(secret), at: now, overlapMs })
      if (!(await store.tokens.rotate(id, rotation))) {
        throw new ToolError('CONFLICT', `The token ${known.name} was rotated or revoked at the same time.`, {
          hint: 'List the tokens, and rotate it again if it still has its old secret.',
        })
      }
      if (overlapMs === 0) await endOpen(id)
      const { from, to, ...times } = rotation
      const rotated = { ...known, hash: to, previousHash: from, rotatedAt: now, previousUsedAt: known.usedAt, ...times }
      return { token: toTokenEntry({ ...rotated, usedAt: undefined }, now), secret }
    },
    /** Revokes a token with all its secrets; returns whether there was one. */
    async remove(id: string): Promise<boolean> {
      const wasThere = await store.tokens.remove(id)
      await endOpen(id)
      return wasThere
    },
  }
}

function readOverlap(overlap: TokenOverlap): number {
  const read = tokenOverlap.safeParse(overlap)
  if (read.success) return read.data.overlapMs
  throw invalid('The overlap of two secrets is not between 0 and 30 days.')
}

/** A token has two secrets at most: the older one would end before the time that was said when it was replaced. */
function refuseThirdSecret({ name, previousExpiresAt = 0 }: StoredToken, now: number): void {
  if (previousExpiresAt <= now) return
  const until = new Date(previousExpiresAt).toISOString()
  throw new ToolError('CONFLICT', `The previous secret of token ${name} is valid until ${until}.`, {
    hint: `Rotate it again after that, or end all its secrets now: tool-hub tokens rotate ${name} --overlap 0`,
  })
}

/** The new secret is valid for as long as the current one was from its start; that one never longer than before. */
function rotationOf(
  { hash, createdAt, rotatedAt = createdAt, expiresAt }: StoredToken,
  { to, at, overlapMs }: { readonly to: string; readonly at: number; readonly overlapMs: number },
): TokenRotation {
  return {
    from: hash,
    to,
    at,
    ...(expiresAt !== undefined && { expiresAt: at + expiresAt - rotatedAt }),
    previousExpiresAt: Math.min(at + overlapMs, expiresAt ?? Number.POSITIVE_INFINITY),
  }
}

/** Names that differ only in case, or in the width or form of their letters, would be confused. */
async function refuseKnownName(store: Pick<Store, 'tokens'>, name: string): Promise<void> {
  const plain = (text: string) => text.normalize('NFKC').toLowerCase()
  const known = (await store.tokens.list()).find((token) => plain(token.name) === plain(name))
  if (!known) return
  throw new ToolError('CONFLICT', `There is a token ${known.name} already (${known.id}).`, {
    hint: `Choose another name, or revoke that one first: tool-hub tokens revoke ${known.name}`,
  })
}

type Roots = NonNullable<Sandbox['roots']>

/** The conditions of a new token. */
export interface NewTokenCheck {
  readonly now: number
  /** The owner creates it, so it may also get more rights. */
  readonly mayAllow: boolean
  /** Folder that relative patterns of its rules start from. */
  readonly base: string
  /** The folders of the hub. */
  readonly roots: Roots
}

/** Checks a new token; throws if it is invalid or grants more than its creator may grant. */
export async function checkNewToken(wish: NewToken, { now, mayAllow, base, roots }: NewTokenCheck): Promise<NewToken> {
  const read = newToken.safeParse(wish)
  if (!read.success) {
    const [issue] = read.error.issues
    throw invalid(`The token cannot be made: ${issue?.path.join('.') || 'it'}: ${issue?.message}.`)
  }
  const token = read.data
  if (token.expiresAt !== undefined && !(token.expiresAt > now))
    throw invalid(`The token would have expired ${Math.ceil((now - token.expiresAt) / 1_000)} s ago.`)
  for (const [unit, most] of Object.entries(token.budget ?? {}))
    if (most < 0) throw invalid(`The budget of ${most} ${unit} is below 0.`)
  checkRules(token, base)
  if (!mayAllow) await refuseBeyond(token, roots)
  else for (const root of token.roots ?? []) await checkRoot(root, undefined)
  return token
}

/** Who has the secret has the rights, so a token is created and rotated only by who may grant all of them. */
async function refuseBeyond(token: TokenLimits, roots: Roots): Promise<void> {
  refuseMore(token)
  for (const root of token.roots ?? []) await checkRoot(root, roots)
}

function checkRules(token: NewToken, base: string): void {
  try {
    limitsToRules({ limits: token, label: `token ${token.name}`, base, howToAllowDanger: '' })
  } catch (error) {
    throw invalid(messageOf(error), ToolError.is(error) ? error.fix.hint : undefined)
  }
}

function refuseMore({ policy = [], allowDanger }: TokenLimits): void {
  const allow = policy.findIndex((rule) => Object.hasOwn(rule, 'allow'))
  if (allow !== -1) throw onlyOwner(`Rule ${allow + 1} allows; from here the rules of a token may only ask and deny.`)
  if (allowDanger) throw onlyOwner('From here no token is given commands and calls that destroy something.')
}

/**
 * Checks that a root is an existing folder, and, if the owner does not create the token, inside the roots of the hub.
 */
async function checkRoot({ path, mode }: Roots[number], roots: Roots | undefined): Promise<void> {
  if (!isAbsolute(path)) throw invalid(`The root ${JSON.stringify(path)} is not an absolute path.`)
  const found = await stat(path).catch(() => undefined)
  if (!found?.isDirectory()) throw invalid(`The root ${JSON.stringify(path)} is not a folder that is there.`)
  if (!roots) return
  const real = await realpath(path)
  for (const root of roots) {
    const isEnough = mode === 'read' || root.mode === 'write'
    if (isEnough && isBelow(real, await realpath(root.path).catch(() => undefined))) return
  }
  throw onlyOwner(`The root ${JSON.stringify(path)} is not one that the hub itself may ${mode}.`)
}

function isBelow(path: string, folder: string | undefined): boolean {
  if (folder === undefined) return false
  const way = relative(folder, path)
  return way.split(sep)[0] !== '..' && !isAbsolute(way)
}

function invalid(message: string, hint?: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, hint === undefined ? {} : { hint })
}

function onlyOwner(message: string): ToolError {
  return new ToolError('FORBIDDEN', message, {
    hint: 'The owner makes and rotates such tokens on the machine of the hub: tool-hub tokens.',
  })
}
