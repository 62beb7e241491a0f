import { createValue } from '../state/create-value.ts'
import type { Me } from './types.ts'

/** Whether somebody is signed in; `lost` when a session ended under way, so that the sign-in page can say so. */
export type Session =
  | { readonly state: 'unknown' }
  | { readonly state: 'signed-out'; readonly lost: boolean }
  | { readonly state: 'signed-in'; readonly me: Me }

/** The session of this page. */
export const session = createValue<Session>({ state: 'unknown' })

/** The server does not know the cookie (any more): the shell shows the sign-in page, and comes back to this one. */
export function endSession(): void {
  const lost = session.get().state === 'signed-in'
  if (session.get().state !== 'signed-out') session.set({ state: 'signed-out', lost })
}
