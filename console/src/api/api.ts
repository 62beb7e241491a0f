import { createClient } from '../../../src/client/index.ts'
import { fetchInSession } from './fetch-in-session.ts'

/** The service, as whoever is signed in on this page: `api.runs.list()`, `api.call(…)`; every one throws `ApiError`. */
export const api = createClient({ fetch: fetchInSession })
