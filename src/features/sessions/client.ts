import type { ServiceRequests } from '../../protocol/index.ts'
import type { HistoryPage, SessionEntry, SessionStatus } from './types.ts'

/** The methods of the client for sessions. */
export function sessionsClient(http: ServiceRequests) {
  return {
    /** Sessions of agents: their history, messages to them, and how to end one. */
    agents: {
      /** Newest first; `principal` filters by the principal that they work for. */
      list: (filter: { principal?: string; state?: SessionEntry['state']; before?: string; limit?: number } = {}) =>
        http.json<{ agents: SessionEntry[]; next?: string }>('GET', '/v1/agents', { query: filter }),
      /** One session with what it has used; rejects with `NOT_FOUND` if there is none. */
      get: (id: string) => http.json<SessionStatus>('GET', http.path('/v1/agents', id)),
      /** A page of its history, oldest entry first. Default: the newest page. */
      history: (id: string, page: { before?: string; limit?: number } = {}) =>
        http.json<HistoryPage>('GET', `${http.path('/v1/agents', id)}/history`, { query: page }),
      /** Sends it a message as the owner; `status` is the outcome. */
      send: (id: string, text: string) =>
        http.json<{ status: string }>('POST', `${http.path('/v1/agents', id)}/messages`, { body: { text } }),
      /** Ends it; `ended` is false if it was over already. */
      end: (id: string, reason?: string) =>
        http.json<{ ended: boolean }>('POST', `${http.path('/v1/agents', id)}/end`, { body: { reason } }),
    },
  }
}
