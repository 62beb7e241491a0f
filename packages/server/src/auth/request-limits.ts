import { isIPv6 } from 'node:net'
import type { Clock, Rate } from '@tool-hub/core'
import { LRUCache } from 'lru-cache'
import { type AuthRequest, type Refusal, tooOften, unauthenticated } from './auth-request.ts'
import { hashSecret } from './token.ts'

const WINDOW_MS = 60_000

const MAX_ADDRESSES = 10_000

/** Counts failures by address and minute; when the table is full, the address that was quiet for longest is dropped. */
export class FailureLimiter {
  readonly #most: number
  readonly #clock: Clock
  readonly #failures = new LRUCache<string, Failures>({ max: MAX_ADDRESSES })

  constructor(most: number, clock: Clock) {
    this.#most = most
    this.#clock = clock
  }

  /** Returns how long an address has to wait; 0 if it need not. */
  waitMs(address: string | undefined): number {
    const found = this.#failures.get(placeOf(address))
    if (!found || found.count < this.#most) return 0
    return Math.max(0, found.since + WINDOW_MS - this.#clock.now())
  }

  note(address: string | undefined): void {
    const place = placeOf(address)
    const now = this.#clock.now()
    const found = this.#failures.get(place)
    if (found && now - found.since < WINDOW_MS) found.count += 1
    else this.#failures.set(place, { since: now, count: 1 })
  }
}

/** Failures that one address may have in a minute. */
export interface GuessLimitsOptions {
  /** Unknown tokens. Default: 10. */
  readonly failures?: number
  /** Old or unknown cookies. Default: 100; a page that was left open sends some. */
  readonly cookieFailures?: number
  /** JSON Web Tokens that fail verification. Default: 1,000, about 0.2 s of work. */
  readonly jwtFailures?: number
  /** Unknown webhook links. Default: 30; old chat messages have some. */
  readonly linkFailures?: number
}

const MAX_VERIFIED = 10_000
const WRONG_TOKENS = 'tokens that open nothing'

/**
 * Limits how often an address may guess secrets: 429 instead of 401. Secrets have 256 random bits, so each one is
 * looked up first, and a valid one is accepted whatever others at the same address sent. Only JSON Web Tokens are
 * expensive to verify: after too many failures, only those that were valid before are verified.
 */
export class GuessLimits {
  readonly #addressOf: (request: AuthRequest) => string | undefined
  readonly #tokens: FailureLimiter
  readonly #sessions: FailureLimiter
  readonly #jwts: FailureLimiter
  readonly #links: FailureLimiter
  readonly #verified = new LRUCache<string, true>({ max: MAX_VERIFIED })

  constructor(options: GuessLimitsOptions, addressOf: (request: AuthRequest) => string | undefined, clock: Clock) {
    this.#addressOf = addressOf
    this.#tokens = new FailureLimiter(options.failures ?? 10, clock)
    this.#sessions = new FailureLimiter(options.cookieFailures ?? 100, clock)
    this.#jwts = new FailureLimiter(options.jwtFailures ?? 1_000, clock)
    this.#links = new FailureLimiter(options.linkFailures ?? 30, clock)
  }

  wrongToken(request: AuthRequest): Refusal {
    return this.#wrong(this.#tokens, request) ?? unknown()
  }

  wrongSession(request: AuthRequest): Refusal {
    const refused = this.#wrong(this.#sessions, request, 'sessions that are none')
    return refused ?? unauthenticated('The session is over.', { hint: 'Sign in again.' })
  }

  /** Counts an unknown link; returns a refusal if there were too many. */
  wrongLink(request: AuthRequest): Refusal | undefined {
    return this.#wrong(this.#links, request, 'links that lead nowhere')
  }

  wrongJwt(request: AuthRequest, jwt: string): Refusal {
    this.#verified.delete(hashSecret(jwt))
    return this.#wrong(this.#jwts, request) ?? unknown()
  }

  noteVerified(jwt: string): void {
    this.#verified.set(hashSecret(jwt), true)
  }

  /** Returns a refusal if a JSON Web Token is not even verified. */
  refuseUnverified(request: AuthRequest, jwt: string): Refusal | undefined {
    const waitMs = this.#jwts.waitMs(this.#addressOf(request))
    return waitMs === 0 || this.#verified.has(hashSecret(jwt)) ? undefined : tooMany(WRONG_TOKENS, waitMs)
  }

  #wrong(limiter: FailureLimiter, request: AuthRequest, what = WRONG_TOKENS): Refusal | undefined {
    const address = this.#addressOf(request)
    const waitMs = limiter.waitMs(address)
    if (waitMs > 0) return tooMany(what, waitMs)
    limiter.note(address)
    return undefined
  }
}

function tooMany(what: string, waitMs: number): Refusal {
  return tooOften(`Too many ${what} came from this address`, waitMs)
}

function unknown(): Refusal {
  return unauthenticated('The token is unknown, expired or revoked.', { invalid: true })
}

interface Failures {
  readonly since: number
  count: number
}

/** A /64 of IPv6 addresses counts as one address. */
function placeOf(address = 'unknown'): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped) return mapped[1]!
  const [plain = ''] = address.split('%')
  if (!isIPv6(plain)) return plain
  const [head = '', tail] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::')
  const [first, last] = [head, tail ?? ''].map((part) => part.split(':').filter((group) => group !== ''))
  const zeros = Array<string>(8 - first!.length - last!.length).fill('0')
  return [...first!, ...zeros, ...last!].slice(0, 4).join(':')
}

interface Bucket {
  tokens: number
  filledAt: number
}

const MAX_BUCKETS = 10_000
const USUAL: Required<Rate> = { perSecond: 1_000, burst: 2_000 }

/**
 * A token bucket for each principal, in memory: a shared one would cost a write for each request. Several processes on
 * one store each allow this rate; the budget limits a principal across them.
 */
export class RequestRates {
  readonly #usual: Rate
  readonly #clock: Clock
  readonly #buckets = new LRUCache<string, Bucket>({ max: MAX_BUCKETS })

  constructor(clock: Clock, usual: Rate = USUAL) {
    this.#clock = clock
    this.#usual = usual
  }

  /** Takes one request of a principal; returns how long it has to wait, 0 if it need not. */
  take(principal: string, rate: Rate = this.#usual): number {
    const { perSecond } = rate
    const burst = Math.max(1, rate.burst ?? perSecond)
    const now = this.#clock.now()
    const bucket = this.#buckets.get(principal) ?? this.#open(principal, burst, now)
    const grown = bucket.tokens + (Math.max(0, now - bucket.filledAt) / 1_000) * perSecond
    bucket.tokens = Math.min(burst, grown)
    bucket.filledAt = now
    if (bucket.tokens < 1) return Math.ceil(((1 - bucket.tokens) / perSecond) * 1_000)
    bucket.tokens -= 1
    return 0
  }

  #open(principal: string, tokens: number, now: number): Bucket {
    const bucket = { tokens, filledAt: now }
    this.#buckets.set(principal, bucket)
    return bucket
  }
}
