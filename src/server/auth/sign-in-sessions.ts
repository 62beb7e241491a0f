import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { type Awaitable, type Clock, type Store, type StoredSignIn, systemClock } from '../../core/index.ts'
import { after, parseJson } from '../../lib/index.ts'
import type { AuthenticatedCaller } from './caller.ts'
import { type JwtVerifier, person } from './jwt-verifier.ts'
import { hashSecret, isSameText, isSessionSecret, isTokenSecret, newSessionSecret } from './token.ts'
import type { StoredTokenManager } from './token-manager.ts'

/** Somebody who signed in. */
export interface SignedIn {
  readonly caller: AuthenticatedCaller
  /** To send back as `x-tool-hub-csrf` with every change. */
  readonly csrf: string
}

/** Sign-ins of the console. */
export interface SignInSessions {
  /** A cookie for a token; nothing when the token is not good. */
  signIn(
    secret: string,
    options: { readonly secure: boolean },
  ): Promise<(SignedIn & { readonly cookie: string }) | undefined>
  /** Whose a session is, as long as the token that began it holds. */
  authenticate(session: string): Awaitable<SignedIn | undefined>
  /** Ends a session; gives the header that takes the cookie away. */
  signOut(session: string | undefined, options: { readonly secure: boolean }): Promise<string>
}

export interface SignInSessionsOptions {
  readonly store: Pick<Store, 'signIns'>
  readonly tokens: Pick<StoredTokenManager, 'authenticateHash' | 'owner' | 'isOwners'>
  readonly jwt?: JwtVerifier
  readonly clock?: Clock
}

/** From sign-in, whatever is done meanwhile: a working day, and no write a request to make it longer. */
const SESSION_MS = 12 * 3_600_000

const sessionBody = z.union([
  z.strictObject({ type: z.literal('owner') }),
  z.strictObject({ type: z.literal('token'), hash: z.string() }),
  z.strictObject({ type: z.literal('person'), person }),
])
type SessionBody = z.output<typeof sessionBody>

/**
 * Makes the desk. A session keeps who began it by the hash of the token, so it ends when the token is revoked or expires,
 * and one of the owner's after its time: it survives a restart, which the link that began it does not.
 */
export function createSignInSessions({
  store,
  tokens,
  jwt,
  clock = systemClock,
}: SignInSessionsOptions): SignInSessions {
  const visitorOf = (body: SessionBody): Awaitable<AuthenticatedCaller | undefined> => {
    if (body.type === 'owner') return tokens.owner()
    if (body.type === 'token') return tokens.authenticateHash(body.hash)
    return body.person.expiresAt > clock.now() ? jwt?.callerOf(body.person) : undefined
  }
  const beginBody = async (secret: string): Promise<SessionBody | undefined> => {
    if (isTokenSecret(secret)) {
      const hash = hashSecret(secret)
      return tokens.isOwners(hash) ? { type: 'owner' } : { type: 'token', hash }
    }
    const someone = await jwt?.verify(secret)
    return someone && { type: 'person', person: someone }
  }
  return {
    async signIn(secret, { secure }) {
      const body = await beginBody(secret)
      const caller = body && (await visitorOf(body))
      if (!caller) return undefined
      const session = newSessionSecret()
      const now = clock.now()
      const ends = body.type === 'person' ? body.person.expiresAt : Number.POSITIVE_INFINITY
      const expiresAt = Math.min(now + SESSION_MS, ends)
      await store.signIns.add({
        hash: hashSecret(session),
        token: caller.token ?? caller.name,
        body: JSON.stringify(body),
        createdAt: now,
        expiresAt,
      })
      const cookie = writeSessionCookie(session, { maxAgeMs: expiresAt - now, secure })
      return { caller, csrf: csrfOf(session), cookie }
    },
    authenticate(session) {
      const now = clock.now()
      const hash = hashSecret(session)
      return after(store.signIns.find(hash, now), (found) => {
        const body = found && readBody(found, hash, now)
        if (!body) return undefined
        return after(visitorOf(body), (caller) => caller && { caller, csrf: csrfOf(session) })
      })
    },
    async signOut(session, { secure }) {
      if (session !== undefined) await store.signIns.remove(hashSecret(session))
      return writeSessionCookie('', { maxAgeMs: 0, secure })
    },
  }
}

function readBody(found: StoredSignIn, hash: string, now: number): SessionBody | undefined {
  if (!isSameText(found.hash, hash) || found.expiresAt <= now) return undefined
  return sessionBody.safeParse(parseJson(found.body)).data
}

/** Only who may read answers to this session can know it, which no page of another site can; the cookie itself is the key. */
function csrfOf(session: string): string {
  return createHmac('sha256', session).update('tool-hub csrf').digest('base64url')
}

/** The cookie of the console. */
const SESSION_COOKIE = 'tool_hub_session'

/** A `Set-Cookie` that signs in for so long; out when there is no value. Scripts never see it, other sites never send it. */
export function writeSessionCookie(
  value: string,
  { maxAgeMs, secure }: { readonly maxAgeMs: number; readonly secure: boolean },
): string {
  const parts = [`${SESSION_COOKIE}=${value}`, 'Path=/', 'HttpOnly', 'SameSite=Strict']
  return [...parts, `Max-Age=${Math.floor(maxAgeMs / 1_000)}`, ...(secure ? ['Secure'] : [])].join('; ')
}

/** The session of a `Cookie` header. Two of them are none: another site on this name may have planted one. */
export function readSessionCookie(header: string | null): string | undefined {
  const values = (header ?? '').split(';').flatMap((pair) => {
    const [name, value = ''] = pair.trim().split('=')
    return name === SESSION_COOKIE && value !== '' ? [value] : []
  })
  const [value] = values
  return values.length === 1 && isSessionSecret(value!) ? value : undefined
}
