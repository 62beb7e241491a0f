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
  ToolError,
} from '../../core/index.ts'
import { type NewToken, newToken, type TokenLimits } from '../../protocol/index.ts'
import type { TokenManager } from '../service.ts'
import { limitsToRules } from './caller.ts'
import { hashSecret, newTokenSecret, type TokenBody, toTokenEntry } from './token.ts'

/** The topic of the store's event that a token was revoked: every process closes what the token has open. */
export const REVOKED_TOPIC = 'token-revoked'

/** Manages the tokens in a store. */
export interface TokenRegister extends Pick<TokenManager, 'list' | 'remove'> {
  create(
    token: NewToken,
    options?: {
      /** The owner creates the token: allow rules, `allowDanger` and any root are accepted. */
      readonly mayAllow?: boolean
      /** Absolute folder that relative patterns of its rules start from. Default: that of the register. */
      readonly base?: string
    },
  ): ReturnType<TokenManager['create']>
}

export interface TokenRegisterOptions {
  readonly store: Pick<Store, 'tokens' | 'signIns' | 'events'>
  readonly clock?: Clock
  /** Absolute. Default: the working folder. */
  readonly base?: string
  /** The roots of the hub; a token that its owner does not create gets none outside of them. */
  readonly roots?: Sandbox['roots']
}

/** Creates, lists and revokes tokens. Needs no hub, so that the command line can do it while a server runs. */
export function createTokenRegister(options: TokenRegisterOptions): TokenRegister {
  const { store, clock = systemClock, base: ownBase = process.cwd(), roots = [] } = options
  return {
    async list() {
      return (await store.tokens.list()).map(toTokenEntry)
    },
    async create(wish, { mayAllow = false, base = ownBase } = {}) {
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
      return { token: toTokenEntry(stored), secret }
    },
    async remove(id) {
      const wasThere = await store.tokens.remove(id)
      await store.signIns.removeOf(id)
      await store.events.append({ topic: REVOKED_TOPIC, body: JSON.stringify({ id }), at: clock.now() })
      return wasThere
    },
  }
}

/** Names that differ only in case would be confused. */
async function refuseKnownName(store: Pick<Store, 'tokens'>, name: string): Promise<void> {
  const known = (await store.tokens.list()).find((token) => token.name.toLowerCase() === name.toLowerCase())
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
  if (!mayAllow) refuseMore(token)
  for (const root of token.roots ?? []) await checkRoot(root, mayAllow ? undefined : roots)
  return token
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
    hint: 'The owner makes such a token on the machine of the hub: tool-hub tokens add.',
  })
}
