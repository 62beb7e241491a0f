import { HttpRequests } from '../../../src/client/http-requests.ts'
import { createClient } from '../../../src/client/index.ts'
import { askAbilities } from './ask-abilities.ts'
import { fetchInSession } from './fetch-in-session.ts'
import { session } from './session.ts'

const http = new HttpRequests({ fetch: fetchInSession })
// What proves a change belongs to the session, and ends with it.
session.watch(() => {
  const current = session.get()
  http.remember(current.state === 'signed-in' ? current.me.csrf : undefined)
})

/** The service, as whoever is signed in on this page: `api.runs.list()`, `api.call(…)`; every one throws `ApiError`. */
export const api = Object.assign(createClient({ fetch: fetchInSession }), askAbilities(http))
