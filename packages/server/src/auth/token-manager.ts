import { type Awaitable, type Principal, type Store, type StoredToken, systemClock, watchTopic } from '@tool-hub/core'
import { after, parseJson } from '@tool-hub/core/lib'
import { SCOPES } from '@tool-hub/core/protocol'
import type { Hub } from '@tool-hub/runtime/hub'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'

import { type Caller, type CallerFacts, toCaller, toPrincipal } from './caller.ts'
import { hashSecret, isSameText, isTokenSecret, newTokenSecret, readTokenBody } from './token.ts'
import { createTokenRegister, REVOKED_TOPIC, type TokenRegister, type TokenRegisterOptions } from './token-register.ts'

export interface TokenManagerOptions extends TokenRegisterOptions {
  readonly hub: Pick<Hub, 'as'>
}

/** What is remembered of a token by its id: both secrets of a rotated one have the same caller. */
interface Hot {
  readonly token: StoredToken
  readonly caller: Caller
  /** When each of its secrets was used, by its hash. */
  readonly usedAt: Map<string, number>
}

const MAX_HOT = 1_000
const TOUCH_MS = 60_000
const TOKEN_PREFIX = 'token:'
const revocation = z.object({ id: z.string() })
const HOW_TO_ALLOW = 'The owner of the hub can make a token that may: tool-hub tokens add NAME --allow-danger.'

/**
 * The tokens of a running server, with the callers of their secrets. It reads the store for every request, which takes
 * 5 us, because another process may have revoked the token. The hub of the caller, which is expensive, is cached.
 */
export class TokenManager implements TokenRegister {
  readonly list: TokenRegister['list']
  readonly create: TokenRegister['create']
  readonly rotate: TokenRegister['rotate']
  readonly #register: TokenRegister
  readonly #hub: Pick<Hub, 'as'>
  readonly #store: TokenRegisterOptions['store']
  readonly #now: () => number
  readonly #hot = new LRUCache<string, Hot>({ max: MAX_HOT })
  #owner: Caller | undefined
  readonly #owners = new Map<string, Caller>()
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
    this.rotate = this.#register.rotate
  }

  /** Returns the caller of a secret; `undefined` if it is unknown, expired or revoked. */
  authenticate(secret: string): Awaitable<Caller | undefined> {
    return isTokenSecret(secret) ? this.authenticateHash(hashSecret(secret)) : undefined
  }

  /** The same by hash, for sessions, which store no secret. */
  authenticateHash(hash: string): Awaitable<Caller | undefined> {
    const owner = this.#owners.get(hash)
    return owner ?? after(this.#store.tokens.findByHash(hash), (found) => this.#look(hash, found, this.#now()))
  }

  /** Creates a secret of the owner, who may do everything; only this process knows it. */
  createOwnerToken(): string {
    const secret = newTokenSecret()
    this.#owners.set(hashSecret(secret), this.owner())
    return secret
  }

  /** Whether this is the hash of a secret of the owner. */
  isOwners(hash: string): boolean {
    return this.#owners.has(hash)
  }

  /** The owner, who may do everything. */
  owner(): Caller {
    this.#owner ??= { name: 'owner', scopes: new Set(SCOPES), hub: this.#hub.as({ name: 'owner' }) }
    return this.#owner
  }

  /** Calls the listener with the id of each token that any process revokes. Returns a function that removes the listener. */
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

  #look(hash: string, found: StoredToken | undefined, now: number): Caller | undefined {
    if (!found || this.#removed.has(found.id)) return undefined
    const secret = secretOf(found, hash)
    if (!secret) return undefined
    const known = this.#hot.get(found.id)
    const caller = known?.token.body === found.body ? known.caller : this.#caller(found)
    const hot = { token: found, caller, usedAt: known?.usedAt ?? new Map<string, number>() }
    this.#hot.set(found.id, hot)
    if (secret.expiresAt !== undefined && secret.expiresAt <= now) return undefined
    const usedAt = Math.max(hot.usedAt.get(hash) ?? 0, secret.usedAt ?? 0)
    if (now - usedAt >= TOUCH_MS) this.#touch(hot, secret, now)
    return caller
  }

  #touch({ token, usedAt }: Hot, { hash, which }: Secret, now: number): void {
    // A token has two secrets: others are of earlier rotations.
    for (const old of usedAt.keys()) if (old !== token.hash && old !== token.previousHash) usedAt.delete(old)
    usedAt.set(hash, now)
    const touch = async () => this.#store.tokens.touch(token.id, now, which)
    // Only for information: a failed write does not refuse the request.
    touch().catch(() => {})
  }

  #caller(token: StoredToken): Caller {
    return toCaller(this.#hub, { ...factsOf(token), token: token.id })
  }
}

/** One of the secrets of a token. */
interface Secret {
  readonly which: 'current' | 'previous'
  readonly hash: string
  readonly expiresAt: number | undefined
  readonly usedAt: number | undefined
}

/** Which secret of a token has a hash; `undefined` if none has. */
function secretOf(token: StoredToken, hash: string): Secret | undefined {
  if (isSameText(token.hash, hash)) return { which: 'current', hash, expiresAt: token.expiresAt, usedAt: token.usedAt }
  const { previousHash, previousExpiresAt: expiresAt, previousUsedAt: usedAt } = token
  if (previousHash === undefined || expiresAt === undefined || !isSameText(previousHash, hash)) return undefined
  return { which: 'previous', hash, expiresAt, usedAt }
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
