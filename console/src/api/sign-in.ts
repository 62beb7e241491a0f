import { ApiError } from '../../../src/client/index.ts'
import { api } from './api.ts'
import { forgetQueries } from './query-cache.ts'
import { session } from './session.ts'

/** Changes a token for a session; throws `ApiError` in words for the form. */
export async function signIn(token: string): Promise<void> {
  session.set({ state: 'signed-in', me: await api.signIn(token) })
}

/** Looks whether the cookie still holds; throws when the server does not answer at all. */
export async function resumeSession(): Promise<void> {
  try {
    session.set({ state: 'signed-in', me: await api.me() })
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error
    session.set({ state: 'signed-out', lost: false })
  }
}

/** Ends the session here and there, and forgets everything that was shown. */
export async function signOut(): Promise<void> {
  await api.signOut()
  forgetQueries()
  session.set({ state: 'signed-out', lost: false })
}
