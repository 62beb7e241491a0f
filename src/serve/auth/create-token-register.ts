import { randomBytes } from 'node:crypto'
import { type Clock, systemClock } from '../../clock.ts'
import { ToolError } from '../../errors.ts'
import type { Sandbox } from '../../options.ts'
import type { Store, StoredToken } from '../../store.ts'
import type { NewToken } from '../api/service.ts'
import type { TokenDesk } from '../service.ts'
import { checkNewToken } from './check-new-token.ts'
import { type TokenBody, toTokenEntry } from './token-body.ts'
import { hashSecret, newTokenSecret } from './token-secret.ts'

/** The tokens in a store, for who manages them. */
export interface TokenRegister extends Pick<TokenDesk, 'list' | 'remove'> {
  create(
    token: NewToken,
    options?: {
      /** Its maker owns the hub: allow rules, danger and any root are fine. */
      readonly mayAllow?: boolean
      /** Absolute: the folder that relative patterns of its rules start from; that of the register unless said. */
      readonly base?: string
    },
  ): ReturnType<TokenDesk['create']>
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
