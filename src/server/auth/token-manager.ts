import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import {
  type Awaitable,
  type Principal,
  type Store,
  type StoredToken,
  systemClock,
  watchTopic,
} from '../../core/index.ts'
import type { Hub } from '../../hub/index.ts'
import { after, parseJson } from '../../lib/index.ts'
import { SCOPES } from '../../protocol/index.ts'
import type { TokenManager } from '../service.ts'
import { type AuthenticatedCaller, type CallerFacts, toCaller, toPrincipal } from './caller.ts'
import { hashSecret, isSameText, isTokenSecret, newTokenSecret, readTokenBody } from './token.ts'
import { createTokenRegister, REVOKED_TOPIC, type TokenRegister, type TokenRegisterOptions } from './token-register.ts'

/** The tokens of a running server, with the callers of their secrets. */
export interface StoredTokenManager extends TokenManager, TokenRegister {
  create: TokenRegister['create']
  authenticate(secret: string): Awaitable<AuthenticatedCaller | undefined>
  /** The same by hash, for sessions, which store no secret. */
  authenticateHash(hash: string): Awaitable<AuthenticatedCaller | undefined>
  /** Creates a secret of the owner, who may do everything; only this process knows it. */
  createOwnerToken(): string
  /** Whether this is the hash of a secret of the owner. */
  isOwners(hash: string): boolean
  /** The owner, who may do everything. */
  owner(): AuthenticatedCaller
  /** Calls the listener with the id of each token that any process revokes. Returns a function that removes the listener. */
  watchRevoked(listener: (id: string) => void): () => void
}

export interface TokenManagerOptions extends TokenRegisterOptions {
  readonly hub: Pick<Hub, 'as'>
}

interface Hot {
  readonly token: StoredToken
  readonly caller: AuthenticatedCaller
  usedAt: number
}

const MAX_HOT = 1_000
const TOUCH_MS = 60_000
const TOKEN_PREFIX = 'token:'
const revocation = z.object({ id: z.string() })
const HOW_TO_ALLOW = 'The owner of the hub can make a token that may: tool-hub tokens add NAME --allow-danger.'

/**
 * Creates the token manager. It reads the store for every request, which takes 5 us, because another process may have
 * revoked the token. The hub of the caller, which is expensive, is cached.
 */
export function createTokenManager(options: TokenManagerOptions): StoredTokenManager {
  return new StoreTokenManager(options)
}

class StoreTokenManager implements StoredTokenManager {
  readonly list: TokenRegister['list']
  readonly create: TokenRegister['create']
  readonly #register: TokenRegister
  readonly #hub: Pick<Hub, 'as'>
  readonly #store: TokenRegisterOptions['store']
  readonly #now: () => number
  readonly #hot = new LRUCache<string, Hot>({ max: MAX_HOT })
  #owner: AuthenticatedCaller | undefined
  readonly #owners = new Map<string, AuthenticatedCaller>()
  /** Ids of tokens revoked here: a lookup that was in progress may still return them. */
  readonly #removed = new Set<string>()

  constructor(options: TokenManagerOptions) {
    const { store, hub, clock = systemClock } = options
    this.#register = createTokenRegister(options)
    this.#store = store
    this.#hub = hub
    this.#now = () => clock.now()
    this.list = this.#register.list
    this.create = this.#register.create
  }

  authenticate(secret: string): Awaitable<AuthenticatedCaller | undefined> {
    return isTokenSecret(secret) ? this.authenticateHash(hashSecret(secret)) : undefined
  }

  authenticateHash(hash: string): Awaitable<AuthenticatedCaller | undefined> {
    const owner = this.#owners.get(hash)
    return owner ?? after(this.#store.tokens.findByHash(hash), (found) => this.#look(hash, found, this.#now()))
  }

  createOwnerToken(): string {
    const secret = newTokenSecret()
    this.#owners.set(hashSecret(secret), this.owner())
    return secret
  }

  isOwners(hash: string): boolean {
    return this.#owners.has(hash)
  }

  owner(): AuthenticatedCaller {
    this.#owner ??= { name: 'owner', scopes: new Set(SCOPES), hub: this.#hub.as({ name: 'owner' }) }
    return this.#owner
  }

  watchRevoked(listener: (id: string) => void): () => void {
    return watchTopic(this.#store.events, REVOKED_TOPIC, (body) => {
      const id = revocation.safeParse(parseJson(body)).data?.id
      if (id !== undefined) listener(id)
    })
  }

  async remove(id: string): Promise<boolean> {
    this.#removed.add(id)
    const wasThere = await this.#register.remove(id)
    if (!wasThere) this.#removed.delete(id)
    return wasThere
  }

  #look(hash: string, found: StoredToken | undefined, now: number): AuthenticatedCaller | undefined {
    if (!found || !isSameText(found.hash, hash) || this.#removed.has(found.id)) return undefined
    const known = this.#hot.get(hash)
    const isSame = known?.token.id === found.id && known.token.body === found.body
    const usedAt = Math.max(known?.usedAt ?? 0, found.usedAt ?? 0)
    const hot = { token: found, caller: isSame ? known.caller : this.#caller(found), usedAt }
    this.#hot.set(hash, hot)
    return this.#accept(hot, now)
  }

  #accept(hot: Hot, now: number): AuthenticatedCaller | undefined {
    const { token, caller } = hot
    if (token.expiresAt !== undefined && token.expiresAt <= now) return undefined
    if (now - hot.usedAt >= TOUCH_MS) this.#touch(hot, now)
    return caller
  }

  #touch(hot: Hot, now: number): void {
    hot.usedAt = now
    const touch = async () => this.#store.tokens.touch(hot.token.id, now)
    // Only for information: a failed write is no reason to refuse the request.
    touch().catch(() => {})
  }

  #caller(token: StoredToken): AuthenticatedCaller {
    return toCaller(this.#hub, { ...factsOf(token), token: token.id })
  }
}

/**
 * Returns a function that looks up the current rights of a token by its principal; other principals keep the rights
 * they had.
 */
export function createPrincipalLookup(
  { tokens }: Pick<Store, 'tokens'>,
  now: () => number,
): (known: Principal) => Promise<Principal | undefined> {
  return async (known) => {
    if (!known.name.startsWith(TOKEN_PREFIX)) return known
    const name = known.name.slice(TOKEN_PREFIX.length)
    const token = (await tokens.list()).find((each) => each.name === name)
    if (!token || (token.expiresAt !== undefined && token.expiresAt <= now())) return undefined
    const facts = factsOf(token)
    return facts.scopes.includes('call') ? toPrincipal(facts) : undefined
  }
}

function factsOf(token: StoredToken): CallerFacts {
  const { scopes, base, ...limits } = readTokenBody(token)
  const name = `${TOKEN_PREFIX}${token.name}`
  return { name, scopes, limits, label: `token ${token.name}`, base, howToAllowDanger: HOW_TO_ALLOW }
}
