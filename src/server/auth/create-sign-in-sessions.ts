import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { type Awaitable, type Clock, type Store, type StoredSignIn, systemClock } from '../../core/index.ts'
import { after, parseJson } from '../../lib/index.ts'
import type { AuthenticatedCaller } from './authenticated-caller.ts'
import { type JwtVerifier, person } from './create-jwt-verifier.ts'
import type { StoredTokenManager } from './create-token-manager.ts'
import { writeSessionCookie } from './session-cookie.ts'
import { hashSecret, isSameText, isTokenSecret, newSessionSecret } from './token-secret.ts'

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
  admit(session: string): Awaitable<SignedIn | undefined>
  /** Ends a session; gives the header that takes the cookie away. */
  signOut(session: string | undefined, options: { readonly secure: boolean }): Promise<string>
}

export interface SignInSessionsOptions {
  readonly store: Pick<Store, 'signIns'>
  readonly tokens: Pick<StoredTokenManager, 'admitHash' | 'owner' | 'isOwners'>
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
    if (body.type === 'token') return tokens.admitHash(body.hash)
    return body.person.expiresAt > clock.now() ? jwt?.visitorOf(body.person) : undefined
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
    admit(session) {
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
