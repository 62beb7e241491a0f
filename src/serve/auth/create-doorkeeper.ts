import { type Clock, systemClock } from '../../clock.ts'
import type { Rate } from '../../options.ts'
import type { Awaitable } from '../../store.ts'
import { after } from '../../value/after.ts'
import type { AdmittedVisitor } from './admitted-visitor.ts'
import type { JwtVerifier } from './create-jwt-verifier.ts'
import { createOriginCheck, type OriginCheckOptions } from './create-origin-check.ts'
import type { SessionDesk, SignedIn } from './create-session-desk.ts'
import type { OwnTokenDesk } from './create-token-desk.ts'
import type { DoorRequest } from './door-request.ts'
import { FailureLimiter } from './failure-limiter.ts'
import { forbidden, type Refusal, refusalOf, tooOften, unauthenticated } from './refusal.ts'
import { RequestRates } from './request-rates.ts'
import { readSessionCookie } from './session-cookie.ts'
import { isSameText, isTokenSecret } from './token-secret.ts'

/** Somebody may come in. */
export interface Admission {
  readonly ok: true
  readonly visitor: AdmittedVisitor
  /** Of those who signed in with a cookie: what they must send back with every change. */
  readonly csrf?: string
  /** Whether the same would be let in now: to be asked now and then by what outlives a request, such as a WebSocket. */
  holds(): Awaitable<boolean>
}

/** Decides who may come in. */
export interface Doorkeeper {
  /** Checks only whom the request was sent to and which page sent it: for what everybody may see. */
  inspect(request: DoorRequest): Refusal | undefined
  /** Who asks, by token or cookie. */
  admit(request: DoorRequest): Awaitable<Admission | Refusal>
  /** A session for a token; `headers` has the cookie. */
  signIn(
    request: DoorRequest,
    secret: string,
  ): Promise<(SignedIn & { readonly ok: true; readonly headers: Readonly<Record<string, string>> }) | Refusal>
  /** Ends the session of a request, which `admit` has let in before; gives the headers of the answer. */
  signOut(request: DoorRequest): Promise<Readonly<Record<string, string>>>
}

export interface DoorkeeperOptions extends OriginCheckOptions {
  readonly tokens: OwnTokenDesk
  readonly sessions: SessionDesk
  readonly jwt?: JwtVerifier
  readonly limits?: {
    /** Requests of a principal whose token says nothing else; 1,000 a second, 2,000 at once, unless said. */
    readonly rate?: Rate
    /** Wrong tokens of one address a minute; 10 unless said. */
    readonly failures?: number
    /** Old or wrong cookies of one address a minute; 100 unless said: a page that was left open sends some. */
    readonly cookieFailures?: number
  }
  readonly clock?: Clock
}

const BEARER = /^Bearer +([\x21-\x7e]{1,8192})$/i
const SECRET_IN_URL = /[?&](?:access_token|token|api_key|authorization)=|\bth_[\w-]{43}\b/i

/** Makes the doorkeeper. */
export function createDoorkeeper(options: DoorkeeperOptions): Doorkeeper {
  return new DoorkeeperOfService(options)
}

class DoorkeeperOfService implements Doorkeeper {
  readonly inspect: Doorkeeper['inspect']
  readonly #tokens: OwnTokenDesk
  readonly #sessions: SessionDesk
  readonly #jwt: JwtVerifier | undefined
  readonly #rates: RequestRates
  readonly #guesses: FailureLimiter
  readonly #cookieGuesses: FailureLimiter

  constructor({ tokens, sessions, jwt, limits = {}, clock = systemClock, ...origins }: DoorkeeperOptions) {
    this.inspect = createOriginCheck(origins)
    this.#tokens = tokens
    this.#sessions = sessions
    this.#jwt = jwt
    this.#rates = new RequestRates(clock, limits.rate)
    this.#guesses = new FailureLimiter(limits.failures ?? 10, clock)
    this.#cookieGuesses = new FailureLimiter(limits.cookieFailures ?? 100, clock)
  }

  admit(request: DoorRequest): Awaitable<Admission | Refusal> {
    const refused = this.inspect(request)
    if (refused) return refused
    const authorization = request.headers.get('authorization')
    if (authorization !== null) return this.#admitBearer(request, authorization)
    const cookie = request.headers.get('cookie')
    const session = readSessionCookie(cookie)
    if (session !== undefined) return this.#admitSession(request, session)
    return unauthenticated(
      'This needs a token, and none came.',
      SECRET_IN_URL.test(request.url) ? { hint: NOT_IN_URL } : {},
    )
  }

  async signIn(request: DoorRequest, secret: string): ReturnType<Doorkeeper['signIn']> {
    const refused = this.inspect(request) ?? this.#refuseGuess(request, secret)
    if (refused) return refused
    try {
      const signedIn = await this.#sessions.signIn(secret, { secure: isSecure(request) })
      if (!signedIn) return this.#wrong(request)
      const { cookie, ...rest } = signedIn
      return this.#refuseRate(rest.visitor) ?? { ok: true, ...rest, headers: { 'set-cookie': cookie } }
    } catch (error) {
      return refusalOf(error)
    }
  }

  async signOut(request: DoorRequest): Promise<Readonly<Record<string, string>>> {
    const session = readSessionCookie(request.headers.get('cookie'))
    return { 'set-cookie': await this.#sessions.signOut(session, { secure: isSecure(request) }) }
  }

  #admitBearer(request: DoorRequest, authorization: string): Awaitable<Admission | Refusal> {
    const [, secret] = BEARER.exec(authorization) ?? []
    if (secret === undefined) return unauthenticated('The header Authorization is not Bearer and a token.')
    const refused = this.#refuseGuess(request, secret)
    if (refused) return refused
    return orRefusal(() =>
      after(this.#visitorOf(secret), (visitor) => {
        if (!visitor) return this.#wrong(request)
        const holds = () => after(this.#visitorOf(secret), (found) => found !== undefined)
        return this.#refuseRate(visitor) ?? { ok: true, visitor, holds }
      }),
    )
  }

  #admitSession(request: DoorRequest, session: string): Awaitable<Admission | Refusal> {
    const waitMs = this.#cookieGuesses.waitMs(request.remoteAddress)
    if (waitMs > 0) return tooOften('Too many sessions that are none came from this address', waitMs)
    const refused = refuseFromElsewhere(request)
    if (refused) return refused
    return orRefusal(() =>
      after(this.#sessions.admit(session), (signedIn) => {
        if (!signedIn) return this.#over(request)
        const holds = () => after(this.#sessions.admit(session), (found) => found !== undefined)
        return refuseForged(request, signedIn) ?? this.#refuseRate(signedIn.visitor) ?? { ok: true, ...signedIn, holds }
      }),
    )
  }

  #visitorOf(secret: string): Awaitable<AdmittedVisitor | undefined> {
    if (isTokenSecret(secret)) return this.#tokens.admit(secret)
    const jwt = this.#jwt
    return jwt && after(jwt.verify(secret), (person) => person && jwt.visitorOf(person))
  }

  /** An address that was wrong too often waits, unless its token is known to be good: others on that machine go on. */
  #refuseGuess({ remoteAddress }: DoorRequest, secret: string): Refusal | undefined {
    const waitMs = this.#guesses.waitMs(remoteAddress)
    if (waitMs === 0 || this.#tokens.knows(secret)) return undefined
    return tooOften('Too many tokens that open nothing came from this address', waitMs)
  }

  #wrong({ remoteAddress }: DoorRequest): Refusal {
    this.#guesses.note(remoteAddress)
    return unauthenticated('The token is unknown, expired or revoked.', { invalid: true })
  }

  #over({ remoteAddress }: DoorRequest): Refusal {
    this.#cookieGuesses.note(remoteAddress)
    return unauthenticated('The session is over.', { hint: 'Sign in again.' })
  }

  #refuseRate({ name, rate }: AdmittedVisitor): Refusal | undefined {
    const waitMs = this.#rates.take(name, rate)
    return waitMs > 0 ? tooOften(`Too many requests of ${name}`, waitMs) : undefined
  }
}

const NOT_IN_URL = 'A token in a URL ends up in logs and is not looked at: send it as Authorization: Bearer <token>.'

/** A cookie comes by itself, so it counts only where the browser says that a page of ours asked. */
function refuseFromElsewhere({ headers }: DoorRequest): Refusal | undefined {
  if (headers.get('origin') !== null) return undefined // which was checked
  const site = headers.get('sec-fetch-site')
  const isElsewhere = site !== null && site !== 'same-origin' && site !== 'none'
  if (!isElsewhere && headers.get('upgrade') === null) return undefined
  return forbidden('A session can be used only by the pages of the service.', 'Open the console, or send a token.')
}

function refuseForged({ method, headers }: DoorRequest, { csrf }: SignedIn): Refusal | undefined {
  if (method === 'GET' || method === 'HEAD') return undefined
  if (isSameText(headers.get('x-tool-hub-csrf') ?? '', csrf)) return undefined
  return forbidden(
    'A change by a session needs the header x-tool-hub-csrf with the word that GET /v1/me tells.',
    'Reload the page.',
  )
}

/** A browser says truly by which scheme it came, also through a proxy; see `isSameOrigin`. */
function isSecure({ url, headers }: DoorRequest): boolean {
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
