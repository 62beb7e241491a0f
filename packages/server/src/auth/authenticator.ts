import { type Awaitable, type Clock, type Rate, systemClock, ToolError } from '@tool-hub/core'
import { after, escapeLine, family, type Sample } from '@tool-hub/core/lib'
import { isLoopback } from '@tool-hub/sandbox/system'
import type { Log } from '../service-log.ts'
import {
  type AuthRequest,
  createAddressOf,
  forbidden,
  type Refusal,
  refusalOf,
  tooOften,
  unauthenticated,
} from './auth-request.ts'
import type { AuthenticatedCaller } from './caller.ts'
import type { JwtVerifier } from './jwt-verifier.ts'
import { GuessLimits, type GuessLimitsOptions, RequestRates } from './request-limits.ts'
import { type Credential, readSessionCookie, type SignedIn, type SignInSessions } from './sign-in-sessions.ts'
import { hashSecret, isJwt, isSameText, isTokenSecret } from './token.ts'
import type { StoredTokenManager } from './token-manager.ts'

/** An authenticated request. */
export interface Identity {
  readonly ok: true
  readonly caller: AuthenticatedCaller
  /** For sign-ins with a cookie: the value that every change must send as `x-tool-hub-csrf`. */
  readonly csrf?: string
  /**
   * Whether the same credentials are still valid; checked from time to time by connections that outlive a request, such
   * as WebSockets.
   */
  holds(): Awaitable<boolean>
  /**
   * Takes one more request of the same principal, for connections with many requests; returns how long to wait, 0 if it
   * need not.
   */
  take(): number
  /** What the request was authenticated by, so that another process finds the same caller. */
  credential(): Awaitable<Credential | undefined>
}

/** Authenticates requests. */
export interface Authenticator {
  /** Checks only `Host` and `Origin`: for routes that everybody may use. */
  inspect(request: AuthRequest): Refusal | undefined
  /** Authenticates a request by its token or cookie. */
  authenticate(request: AuthRequest): Awaitable<Identity | Refusal>
  /** The identity of a request that another process has authenticated; `undefined` if it is no longer valid. */
  identify(credential: Credential): Awaitable<Identity | undefined>
  /** Counts an unknown webhook link; returns a refusal if too many came from the same address. */
  wrongLink(request: AuthRequest): Refusal | undefined
  /** Signs in with a token; `headers` has the cookie. */
  signIn(
    request: AuthRequest,
    secret: string,
  ): Promise<(SignedIn & { readonly ok: true; readonly headers: Readonly<Record<string, string>> }) | Refusal>
  /** How many requests and sign-ins were refused, in the text format of Prometheus. */
  metrics(): string
  /** Signs out the session of an authenticated request; returns the headers of the response. */
  signOut(request: AuthRequest): Promise<Readonly<Record<string, string>>>
}

export interface AuthenticatorOptions extends OriginCheckOptions {
  readonly tokens: StoredTokenManager
  readonly sessions: SignInSessions
  readonly jwt?: JwtVerifier
  readonly limits?: GuessLimitsOptions & {
    /** Rate of a principal whose token has none. Default: 1,000 a second, bursts of 2,000. */
    readonly rate?: Rate
  }
  /** Addresses and networks of proxies whose X-Forwarded-For is trusted. Default: none. */
  readonly trustedProxies?: readonly string[]
  /** Logs sign-ins and refusals. */
  readonly log?: Log
  readonly clock?: Clock
}

const BEARER = /^Bearer +([\x21-\x7e]{1,8192})$/i
const SECRET_IN_URL = /[?&](?:access_token|token|api_key|authorization)=|\bth_[\w-]{43}\b/i

/** Creates the authenticator. */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  return new ServiceAuthenticator(options)
}

class ServiceAuthenticator implements Authenticator {
  readonly inspect: Authenticator['inspect']
  readonly #tokens: StoredTokenManager
  readonly #sessions: SignInSessions
  readonly #jwt: JwtVerifier | undefined
  readonly #rates: RequestRates
  readonly #guesses: GuessLimits
  readonly #addressOf: (request: AuthRequest) => string | undefined
  readonly #log: Log
  readonly #failures = new Map<string, Sample & { value: number }>()

  constructor(options: AuthenticatorOptions) {
    const { tokens, sessions, jwt, limits = {}, clock = systemClock } = options
    this.inspect = createOriginCheck(options)
    this.#tokens = tokens
    this.#sessions = sessions
    this.#jwt = jwt
    this.#rates = new RequestRates(clock, limits.rate)
    this.#addressOf = createAddressOf(options.trustedProxies)
    this.#guesses = new GuessLimits(limits, this.#addressOf, clock)
    this.#log = options.log ?? (() => {})
  }

  authenticate(request: AuthRequest): Awaitable<Identity | Refusal> {
    return after(this.#authenticate(request), (outcome) => (outcome.ok ? outcome : this.#refused(request, outcome)))
  }

  #authenticate(request: AuthRequest): Awaitable<Identity | Refusal> {
    const refused = this.inspect(request)
    if (refused) return refused
    const authorization = request.headers.get('authorization')
    if (authorization !== null) return this.#authenticateBearer(request, authorization)
    const cookie = request.headers.get('cookie')
    const session = readSessionCookie(cookie)
    if (session !== undefined) return this.#authenticateSession(request, session)
    return unauthenticated(
      'This needs a token, and none came.',
      SECRET_IN_URL.test(request.url) ? { hint: NOT_IN_URL } : {},
    )
  }

  identify(known: Credential): Awaitable<Identity | undefined> {
    const find = () => this.#sessions.callerOf(known)
    return after(find(), (caller) => {
      if (!caller) return undefined
      // The process that has authenticated the request has counted it.
      const take = () => this.#rates.take(caller.name, caller.rate)
      const holds = () => after(find(), (found) => found !== undefined)
      return { ok: true, caller, holds, take, credential: () => known }
    })
  }

  wrongLink(request: AuthRequest): Refusal | undefined {
    return this.#guesses.wrongLink(request)
  }

  async signIn(request: AuthRequest, secret: string): ReturnType<Authenticator['signIn']> {
    const outcome = await this.#signIn(request, secret)
    const address = this.#addressOf(request)
    if (!outcome.ok) {
      const { status, error } = outcome
      this.#countFailure('sign-in', error.code)
      this.#log('warn', 'sign-in-refused', 'A sign-in to the console was refused.', {
        address,
        status,
        code: error.code,
      })
      return outcome
    }
    const { name } = outcome.caller
    this.#log('info', 'signed-in', `${name} signed in to the console.`, { principal: name, address })
    return outcome
  }

  async #signIn(request: AuthRequest, secret: string): ReturnType<Authenticator['signIn']> {
    const refused = this.inspect(request) ?? this.#refuseUnseen(request, secret)
    if (refused) return refused
    try {
      const signedIn = await this.#sessions.signIn(secret, { secure: isSecure(request) })
      if (!signedIn) return this.#wrong(request, secret)
      this.#noteRight(secret)
      const { cookie, ...rest } = signedIn
      return this.#refuseRate(rest.caller) ?? { ok: true, ...rest, headers: { 'set-cookie': cookie } }
    } catch (error) {
      return refusalOf(error)
    }
  }

  /** A request without a token is not an attempt; the console sends one before its sign-in. */
  #refused(request: AuthRequest, refusal: Refusal): Refusal {
    const { status, error } = refusal
    const hasSecret = request.headers.get('authorization') !== null
    const isAttempt = status !== 401 || hasSecret
    if (isAttempt) this.#countFailure('request', error.code)
    const level = isAttempt ? 'warn' : 'debug'
    const fields = { address: this.#addressOf(request), method: request.method, status, code: error.code }
    this.#log(level, 'request-refused', error.message, fields)
    return refusal
  }

  metrics(): string {
    const help = 'Requests and sign-ins that were refused before anything was read, by the code of the error.'
    return family('counter', 'tool_hub_auth_failures_total', help, [...this.#failures.values()])
  }

  #countFailure(kind: string, code: string): void {
    const key = `${kind} ${code}`
    const sample = this.#failures.get(key) ?? { labels: { kind, code }, value: 0 }
    sample.value++
    this.#failures.set(key, sample)
  }

  async signOut(request: AuthRequest): Promise<Readonly<Record<string, string>>> {
    const session = readSessionCookie(request.headers.get('cookie'))
    return { 'set-cookie': await this.#sessions.signOut(session, { secure: isSecure(request) }) }
  }

  #authenticateBearer(request: AuthRequest, authorization: string): Awaitable<Identity | Refusal> {
    const secret = readBearer(authorization)
    if (secret === undefined) return unauthenticated('The header Authorization is not Bearer and a token.')
    const refused = this.#refuseUnseen(request, secret)
    if (refused) return refused
    return orRefusal(() =>
      after(this.#callerOf(secret), (caller) => {
        if (!caller) return this.#wrong(request, secret)
        this.#noteRight(secret)
        const holds = () => after(this.#callerOf(secret), (found) => found !== undefined)
        return this.#accept({ caller }, holds, () => this.#sessions.credentialOf(secret))
      }),
    )
  }

  #authenticateSession(request: AuthRequest, session: string): Awaitable<Identity | Refusal> {
    const refused = refuseFromElsewhere(request)
    if (refused) return refused
    return orRefusal(() =>
      after(this.#sessions.authenticate(session), (signedIn) => {
        if (!signedIn) return this.#guesses.wrongSession(request)
        const holds = () => after(this.#sessions.authenticate(session), (found) => found !== undefined)
        const credential = () => ({ type: 'session', hash: hashSecret(session) }) as const
        return refuseForged(request, signedIn) ?? this.#accept(signedIn, holds, credential)
      }),
    )
  }

  #callerOf(secret: string): Awaitable<AuthenticatedCaller | undefined> {
    const jwt = this.#verifierOf(secret)
    if (!jwt) return this.#tokens.authenticate(secret)
    return after(jwt.verify(secret), (person) => person && jwt.callerOf(person))
  }

  /** Returns the verifier if the secret is a JSON Web Token and issuers are configured. */
  #verifierOf(secret: string): JwtVerifier | undefined {
    return isJwt(secret) ? this.#jwt : undefined
  }

  #refuseUnseen(request: AuthRequest, secret: string): Refusal | undefined {
    return this.#verifierOf(secret) ? this.#guesses.refuseUnverified(request, secret) : undefined
  }

  #wrong(request: AuthRequest, secret: string): Refusal {
    return this.#verifierOf(secret) ? this.#guesses.wrongJwt(request, secret) : this.#guesses.wrongToken(request)
  }

  #noteRight(secret: string): void {
    if (this.#verifierOf(secret)) this.#guesses.noteVerified(secret)
  }

  #accept(
    who: Pick<Identity, 'caller' | 'csrf'>,
    holds: Identity['holds'],
    credential: Identity['credential'],
  ): Identity | Refusal {
    const { caller } = who
    const take = () => this.#rates.take(caller.name, caller.rate)
    return this.#refuseRate(caller) ?? { ok: true, ...who, holds, take, credential }
  }

  #refuseRate({ name, rate }: AuthenticatedCaller): Refusal | undefined {
    const waitMs = this.#rates.take(name, rate)
    return waitMs > 0 ? tooOften(`Too many requests of ${name}`, waitMs) : undefined
  }
}

const NOT_IN_URL = 'A token in a URL ends up in logs and is not looked at: send it as Authorization: Bearer <token>.'

/** The usual form is recognized without the pattern, which would scan the whole header. */
function readBearer(authorization: string): string | undefined {
  const plain = authorization.startsWith('Bearer ') ? authorization.slice('Bearer '.length) : ''
  return isTokenSecret(plain) ? plain : BEARER.exec(authorization)?.[1]
}

/** A browser sends cookies by itself, so a cookie counts only if one of our own pages sent the request. */
function refuseFromElsewhere({ headers }: AuthRequest): Refusal | undefined {
  if (headers.get('origin') !== null) return undefined // which was checked
  const site = headers.get('sec-fetch-site')
  const isElsewhere = site !== null && site !== 'same-origin' && site !== 'none'
  if (!isElsewhere && headers.get('upgrade') === null) return undefined
  return forbidden('A session can be used only by the pages of the service.', 'Open the console, or send a token.')
}

function refuseForged({ method, headers }: AuthRequest, { csrf }: SignedIn): Refusal | undefined {
  if (method === 'GET' || method === 'HEAD') return undefined
  if (isSameText(headers.get('x-tool-hub-csrf') ?? '', csrf)) return undefined
  return forbidden(
    'A change by a session needs the header x-tool-hub-csrf with the word that GET /v1/me tells.',
    'Reload the page.',
  )
}

/** The `Origin` has the scheme of the page, also behind a proxy; see `isSameOrigin`. */
function isSecure({ url, headers }: AuthRequest): boolean {
  return url.startsWith('https://') || headers.get('origin')?.startsWith('https://') === true
}

function orRefusal<T>(work: () => Awaitable<T | Refusal>): Awaitable<T | Refusal> {
  try {
    const outcome = work()
    return outcome instanceof Promise ? outcome.catch(refusalOf) : outcome
  } catch (error) {
    return refusalOf(error)
  }
}

const HOST = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(?::\d{1,5})?$/

interface OriginCheckOptions {
  /** Host names of the service in addition to those of loopback: `tools.example.org`, with or without port. */
  readonly allowedHosts?: readonly string[]
  /** Other origins whose pages may call the service: `https://app.example.org`. */
  readonly allowedOrigins?: readonly string[]
}

/**
 * Returns a check of the `Host` and `Origin` of a request. A page can point its own name at loopback (DNS rebinding),
 * but the browser still sends that name as `Host` and the page as `Origin`.
 */
export function createOriginCheck(options: OriginCheckOptions): (request: AuthRequest) => Refusal | undefined {
  const hosts = new Set((options.allowedHosts ?? []).map(checkHost))
  const origins = new Set((options.allowedOrigins ?? []).map(checkOrigin))
  // The last host that was accepted: nearly every request has the same one.
  let known: string | undefined
  const isKnownHost = (said: string) => {
    if (said === known) return true
    const host = said.toLowerCase()
    const [, name] = HOST.exec(host) ?? []
    if (name === undefined || !(hosts.has(host) || hosts.has(name) || isLoopback(name))) return false
    known = said
    return true
  }
  return ({ headers }) => {
    const host = headers.get('host') ?? ''
    if (!isKnownHost(host)) {
      return forbidden(
        `The service is not called ${JSON.stringify(escapeLine(host.slice(0, 200)))}.`,
        'Use the address that it printed, or have the owner add the name to allowedHosts.',
      )
    }
    const origin = headers.get('origin')
    if (origin === null || origins.has(origin) || isSameOrigin(origin, host.toLowerCase())) return undefined
    return forbidden(
      `Pages of ${JSON.stringify(escapeLine(origin.slice(0, 200)))} may not use the service.`,
      'Have the owner add the origin to allowedOrigins.',
    )
  }
}

/** Compares host and port only: behind a TLS proxy, the page is https and the request that arrives is not. */
function isSameOrigin(origin: string, host: string): boolean {
  const page = readOrigin(origin)
  if (!page) return false
  const own = `${page.protocol}//${host}`
  return URL.canParse(own) && new URL(own).host === page.host
}

/** Parses an http or https origin; `undefined` if the text has more than an origin. */
function readOrigin(text: string): URL | undefined {
  const page = URL.canParse(text) ? new URL(text) : undefined
  return page?.origin === text && ['http:', 'https:'].includes(page.protocol) ? page : undefined
}

function checkHost(written: string): string {
  const host = written.toLowerCase()
  if (HOST.test(host)) return host
  throw new ToolError('CONFIG_INVALID', `allowedHosts: ${JSON.stringify(written)} is not the name of a host.`, {
    hint: 'Write it as in an address: tools.example.org, tools.example.org:8443, [2001:db8::1].',
  })
}

function checkOrigin(written: string): string {
  if (readOrigin(written)) return written
  throw new ToolError('CONFIG_INVALID', `allowedOrigins: ${JSON.stringify(written)} is not an origin.`, {
    hint: 'Write scheme and host, in small letters and without a path: https://app.example.org',
  })
}
