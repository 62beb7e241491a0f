import { ApiError, createClient } from '@tool-hub/client'
import { createValue, useValue } from '../lib/watched-value.ts'
import { queryClient } from './query-client.ts'
import type { Me, Scope } from './types.ts'

/** Whether a user is signed in. `lost` is true if the session ended unexpectedly, which the sign-in page shows. */
type Session =
  | { readonly state: 'unknown' }
  | { readonly state: 'signed-out'; readonly lost: boolean }
  | { readonly state: 'signed-in'; readonly me: Me }

/** The session of this page. */
export const session = createValue<Session>({ state: 'unknown' })

/** Called when the server no longer accepts the cookie: the sign-in page is shown, and leads back to this page. */
function endSession(): void {
  const lost = session.get().state === 'signed-in'
  if (session.get().state !== 'signed-out') session.set({ state: 'signed-out', lost })
}

/** A `fetch` that ends the session on a 401, except for a token that is refused during sign-in. */
export async function fetchInSession(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(input, init)
  if (response.status === 401 && !String(input).endsWith('/v1/sessions')) endSession()
  return response
}

/** The client of the service for the signed-in user: `api.runs.list()`. Failures are thrown as `ApiError`. */
export const api = createClient({ fetch: fetchInSession })

/** Exchanges a token for a session. Throws an `ApiError` whose message the form shows. */
export async function signIn(token: string): Promise<void> {
  session.set({ state: 'signed-in', me: await api.signIn(token) })
}

/** Checks whether the cookie is still valid. Throws if the server does not respond. */
export async function resumeSession(): Promise<void> {
  try {
    session.set({ state: 'signed-in', me: await api.me() })
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error
    session.set({ state: 'signed-out', lost: false })
  }
}

/** Ends the session on the server and in this page, and clears the cache. */
export async function signOut(): Promise<void> {
  await api.signOut()
  queryClient.clear()
  session.set({ state: 'signed-out', lost: false })
}

/** The signed-in user and its scopes. Only for components inside the shell. */
export function useMe(): Me & { may(scope: Scope): boolean } {
  const current = useValue(session)
  if (current.state !== 'signed-in') throw new Error('useMe is for pages, which are shown to somebody signed in.')
  const { me } = current
  return { ...me, may: (scope) => me.principal.scopes.includes(scope) }
}

/** How to fix an error: the hint of the server, or what to check if it did not respond. Undefined without a hint. */
export function readHint(error: unknown): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  if (error.status === 0)
    return 'Check that `tool-hub serve` is still running, and that this is the address that it printed.'
  return error.fix.hint === '' ? undefined : error.fix.hint
}
