import { randomBytes, randomUUID } from 'node:crypto'
import { createRequestStateCodec, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'

/** What a state is bound to: it opens for the same one, for the same call. */
export interface Bound {
  readonly principal: string
  readonly tool: string
  /** Hash of the arguments. */
  readonly digest: string
}

/** What was asked: by which key the answer comes, and for an approval the hash of what it approves. */
export interface AskedThing {
  readonly key: string
  readonly hash?: string
}

/** What a client carries from one round of a call to the next. It can read it, and change nothing. */
export interface RequestState extends Bound {
  /** Names this very round. */
  readonly id: string
  readonly asked: readonly AskedThing[]
}

const TTL_SECONDS = 600
const MOST_USED_EACH = 2_000

/**
 * States of calls that wait for input, sealed by HMAC with a key that only this process has, good for 10 minutes and for
 * one use. What was used is remembered for each principal by itself: who uses up its own room keeps nobody else from going on.
 */
export class RequestStates {
  readonly #codec = createRequestStateCodec<RequestState>({ key: randomBytes(32), ttlSeconds: TTL_SECONDS })
  /** By principal, the ids that were used, until they would have expired anyway; in each the oldest is first. */
  readonly #used = new Map<string, Map<string, number>>()

  /** Seals what was asked; gives back the text for the client and the id of the round. */
  async seal(bound: Bound, asked: readonly AskedThing[]): Promise<{ readonly id: string; readonly state: string }> {
    const id = randomUUID()
    const { principal, tool, digest } = bound
    return { id, state: await this.#codec.mint({ id, principal, tool, digest, asked }) }
  }

  /** What was sealed. Throws unless it is ours, of this very call, in time and for the first time. */
  async open(sealed: unknown, bound: Bound): Promise<RequestState> {
    const state = await this.#verified(sealed)
    const isSame = state.principal === bound.principal && state.tool === bound.tool && state.digest === bound.digest
    if (!isSame || !this.#use(state)) throw refused()
    return state
  }

  async #verified(sealed: unknown): Promise<RequestState> {
    if (typeof sealed !== 'string') throw refused()
    try {
      // Its context is used only to bind; ours is bound by what it holds.
      return (await this.#codec.verify(sealed, undefined as never)) as RequestState
    } catch {
      // Why it does not open helps nobody but one who tries.
      throw refused()
    }
  }

  #use({ principal, id }: RequestState): boolean {
    const now = Date.now()
    this.#forgetOld(now)
    const used = this.#used.get(principal) ?? new Map<string, number>()
    if (used.has(id) || used.size >= MOST_USED_EACH) return false
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
