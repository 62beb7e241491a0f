import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, relative, sep } from 'node:path'
import { messageOf, ToolError } from '../../errors.ts'
import type { Sandbox } from '../../options.ts'
import { type NewToken, newToken, type TokenLimits } from '../api/service.ts'
import { limitsToRules } from './limits-to-rules.ts'

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
