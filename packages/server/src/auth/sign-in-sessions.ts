import { createHmac } from 'node:crypto'
import { type Awaitable, type Clock, type Store, type StoredSignIn, systemClock } from '@tool-hub/core'
import { after, parseJson } from '@tool-hub/core/lib'
import { z } from 'zod'
import type { Caller } from './caller.ts'
import { type JwtVerifier, person } from './jwt-verifier.ts'
import { hashSecret, isSameText, isSessionSecret, isTokenSecret, newSessionSecret } from './token.ts'
import type { TokenManager } from './token-manager.ts'

/** A signed-in caller. */
export interface SignedIn {
  readonly caller: Caller
  /** Value that every change must send as `x-tool-hub-csrf`. */
  readonly csrf: string
}

/** Sign-ins of the console. */
export type SignInSessions = ReturnType<typeof createSignInSessions>

export interface SignInSessionsOptions {
  readonly store: Pick<Store, 'signIns'>
  readonly tokens: Pick<TokenManager, 'authenticateHash' | 'owner' | 'isOwners'>
  readonly jwt?: JwtVerifier
  readonly clock?: Clock
}

/** Fixed from the sign-in: a working day, without a write for each request to extend it. */
const SESSION_MS = 12 * 3_600_000

const sessionBody = z.union([
  z.strictObject({ type: z.literal('owner') }),
  z.strictObject({ type: z.literal('token'), hash: z.string().max(100) }),
  z.strictObject({ type: z.literal('person'), person }),
])
type SessionBody = z.output<typeof sessionBody>

/** What a request was authenticated by, without secrets: another process that shares the store finds the caller again. */
export const credential = z.union([
  ...sessionBody.options,
  z.strictObject({ type: z.literal('session'), hash: z.string().max(100) }),
])
export type Credential = z.output<typeof credential>

/**
 * Creates the sign-ins of the console. A session refers to its token by hash, so it ends when the token is revoked or
 * expires. A session of the owner survives a restart; the link that began it does not.
 */
export function createSignInSessions({ store, tokens, jwt, clock = systemClock }: SignInSessionsOptions) {
  const callerOf = (body: SessionBody): Awaitable<Caller | undefined> => {
    if (body.type === 'owner') return tokens.owner()
    if (body.type === 'token') return tokens.authenticateHash(body.hash)
    return body.person.expiresAt > clock.now() ? jwt?.callerOf(body.person) : undefined
  }
  const callerOfSession = (hash: string): Awaitable<Caller | undefined> => {
    const now = clock.now()
    return after(store.signIns.find(hash, now), (found) => {
      const body = found && readBody(found, hash, now)
      return body && callerOf(body)
    })
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
    /** Returns a cookie for a token; `undefined` if the token is not valid. */
    async signIn(
      secret: string,
      { secure }: { readonly secure: boolean },
    ): Promise<(SignedIn & { readonly cookie: string }) | undefined> {
      const body = await beginBody(secret)
      const caller = body && (await callerOf(body))
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
    /** Returns the caller of a session while the token that began it is valid. */
    authenticate(session: string): Awaitable<SignedIn | undefined> {
      return after(callerOfSession(hashSecret(session)), (caller) => caller && { caller, csrf: csrfOf(session) })
    },
    /** Returns what a token proves, without its secret; `undefined` if the token is a JSON Web Token that is not valid. */
    credentialOf: (secret: string): Promise<Credential | undefined> => beginBody(secret),
    /** Returns the caller of a credential; `undefined` if it is no longer valid. */
    callerOf: (known: Credential): Awaitable<Caller | undefined> =>
      known.type === 'session' ? callerOfSession(known.hash) : callerOf(known),
    /** Ends a session; returns the header that removes the cookie. */
    async signOut(session: string | undefined, { secure }: { readonly secure: boolean }): Promise<string> {
      if (session !== undefined) await store.signIns.remove(hashSecret(session))
      return writeSessionCookie('', { maxAgeMs: 0, secure })
    },
  }
}

function readBody(found: StoredSignIn, hash: string, now: number): SessionBody | undefined {
  if (!isSameText(found.hash, hash) || found.expiresAt <= now) return undefined
  return sessionBody.safeParse(parseJson(found.body)).data
}

/** Derived from the cookie: only a page that can read responses of this session knows it, and no other site can. */
function csrfOf(session: string): string {
  return createHmac('sha256', session).update('tool-hub csrf').digest('base64url')
}

/** The cookie of the console. */
const SESSION_COOKIE = 'tool_hub_session'

/** The `Set-Cookie` of a session; without a value it signs out. Scripts cannot read it, other sites cannot send it. */
export function writeSessionCookie(
  value: string,
  { maxAgeMs, secure }: { readonly maxAgeMs: number; readonly secure: boolean },
): string {
  const parts = [`${SESSION_COOKIE}=${value}`, 'Path=/', 'HttpOnly', 'SameSite=Strict']
  return [...parts, `Max-Age=${Math.floor(maxAgeMs / 1_000)}`, ...(secure ? ['Secure'] : [])].join('; ')
}

/** Reads the session of a `Cookie` header. Two cookies count as none: another site on this host may have set one. */
export function readSessionCookie(header: string | null): string | undefined {
  const values = (header ?? '').split(';').flatMap((pair) => {
    const [name, value = ''] = pair.trim().split('=')
    return name === SESSION_COOKIE && value !== '' ? [value] : []
  })
  const [value] = values
  return values.length === 1 && isSessionSecret(value!) ? value : undefined
}
