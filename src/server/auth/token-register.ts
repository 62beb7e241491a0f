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

/** The tokens in a store, for who manages them. */
export interface TokenRegister extends Pick<TokenManager, 'list' | 'remove'> {
  create(
    token: NewToken,
    options?: {
      /** Its maker owns the hub: allow rules, danger and any root are fine. */
      readonly mayAllow?: boolean
      /** Absolute: the folder that relative patterns of its rules start from; that of the register unless said. */
      readonly base?: string
    },
  ): ReturnType<TokenManager['create']>
}

export interface TokenRegisterOptions {
  readonly store: Pick<Store, 'tokens' | 'signIns'>
  readonly clock?: Clock
  /** Absolute; the working folder unless said. */
  readonly base?: string
  /** The folders of the hub: tokens that its owner does not make himself get none beside them. */
  readonly roots?: Sandbox['roots']
}

/** Makes, lists and revokes tokens; needs no hub, so that a command line does it while a server runs. */
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
      return wasThere
    },
  }
}

/** Two names that differ in case only would be taken for each other. */
async function refuseKnownName(store: Pick<Store, 'tokens'>, name: string): Promise<void> {
  const known = (await store.tokens.list()).find((token) => token.name.toLowerCase() === name.toLowerCase())
  if (!known) return
  throw new ToolError('CONFLICT', `There is a token ${known.name} already (${known.id}).`, {
    hint: `Choose another name, or revoke that one first: tool-hub tokens revoke ${known.name}`,
  })
}

type Roots = NonNullable<Sandbox['roots']>

/** What a new token is held to. */
export interface NewTokenCheck {
  readonly now: number
  /** Whoever makes it owns the hub: it may get more than others, not only less. */
  readonly mayAllow: boolean
  /** The folder that relative patterns of its rules start from. */
  readonly base: string
  /** The folders of the hub. */
  readonly roots: Roots
}

/** Refuses a token that cannot mean what it says, or that gives more than its maker may give. */
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

/** A folder that is there; and, unless the owner makes the token, one that the hub has, for no more than the hub may. */
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
