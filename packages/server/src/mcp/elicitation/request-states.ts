import { randomBytes, randomUUID } from 'node:crypto'
import { createRequestStateCodec, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'

/** What a state is bound to: the principal, and the call. */
export interface StateBinding {
  readonly principal: string
  readonly tool: string
  /** Hash of the arguments. */
  readonly digest: string
}

/** One input that the client is asked for: the key of its answer, and for an approval the hash of what it approves. */
export interface PendingInput {
  readonly key: string
  readonly hash?: string
}

/** What a client carries from one round of a call to the next. It can read but not change it. */
export interface RequestState extends StateBinding {
  /** Names this round. */
  readonly id: string
  readonly asked: readonly PendingInput[]
}

const TTL_SECONDS = 600
const MAX_USED_EACH = 2_000

/**
 * States of calls that wait for input, sealed by HMAC with a key that only this process has, valid for 10 minutes and for
 * one use. Used states are remembered per principal, so that one that exceeds its limit affects no other.
 */
export class RequestStates {
  readonly #codec = createRequestStateCodec<RequestState>({ key: randomBytes(32), ttlSeconds: TTL_SECONDS })
  readonly #mark: string
  /** By principal, the ids that were used, until they would have expired anyway; in each the oldest is first. */
  readonly #used = new Map<string, Map<string, number>>()

  /** `mark`: the beginning of every sealed state. */
  constructor(mark = '') {
    this.#mark = mark
  }

  /** Seals the inputs that are asked for; returns the text for the client and the id of the round. */
  async seal(
    bound: StateBinding,
    asked: readonly PendingInput[],
  ): Promise<{ readonly id: string; readonly state: string }> {
    const id = randomUUID()
    const { principal, tool, digest } = bound
    return { id, state: `${this.#mark}${await this.#codec.mint({ id, principal, tool, digest, asked })}` }
  }

  /** Opens a sealed state. Throws unless it was sealed here, for this call, in time, and is used for the first time. */
  async open(sealed: unknown, bound: StateBinding): Promise<RequestState> {
    const state = await this.#verified(sealed)
    const isSame = state.principal === bound.principal && state.tool === bound.tool && state.digest === bound.digest
    if (!isSame || !this.#use(state)) throw refused()
    return state
  }

  async #verified(sealed: unknown): Promise<RequestState> {
    if (typeof sealed !== 'string' || !sealed.startsWith(this.#mark)) throw refused()
    try {
      // The codec uses its context only to bind a state; ours is bound by its content.
      return (await this.#codec.verify(sealed.slice(this.#mark.length), undefined as never)) as RequestState
    } catch {
      // The reason would help only an attacker.
      throw refused()
    }
  }

  #use({ principal, id }: RequestState): boolean {
    const now = Date.now()
    this.#forgetOld(now)
    const used = this.#used.get(principal) ?? new Map<string, number>()
    if (used.has(id) || used.size >= MAX_USED_EACH) return false
    used.set(id, now + (TTL_SECONDS + 1) * 1_000)
    this.#used.set(principal, used)
    return true
  }

  #forgetOld(now: number): void {
    for (const used of this.#used.values()) {
      for (const [id, expiresAt] of used) {
        if (expiresAt > now) break
        used.delete(id)
      }
    }
    for (const [principal, used] of this.#used) if (used.size === 0) this.#used.delete(principal)
  }
}

function refused(): ProtocolError {
  const data = { reason: 'invalid_request_state' }
  return new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState', data)
}
