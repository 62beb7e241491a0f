import type { ServiceRequests } from '../../protocol/index.ts'
import type { AgentEntry, AgentHistory, AgentStatus } from './schema.ts'

/** The requests of a client for sessions. */
export function sessionsClient(http: ServiceRequests) {
  return {
    /** Sessions of agents: their history, messages to them, and how to end one. */
    agents: {
      /** Newest first; `principal` is whom they work for. */
      list: (filter: { principal?: string; state?: AgentEntry['state']; before?: string; limit?: number } = {}) =>
        http.json<{ agents: AgentEntry[]; next?: string }>('GET', '/v1/agents', { query: filter }),
      /** One session with what it has used; rejects with `NOT_FOUND` if there is none. */
      get: (id: string) => http.json<AgentStatus>('GET', http.path('/v1/agents', id)),
      /** A part of what happened in it, oldest first; the newest part unless `before` says. */
      history: (id: string, page: { before?: string; limit?: number } = {}) =>
        http.json<AgentHistory>('GET', `${http.path('/v1/agents', id)}/history`, { query: page }),
      /** Writes to it as the owner; `status` says whether it still works. */
      send: (id: string, text: string) =>
        http.json<{ status: string }>('POST', `${http.path('/v1/agents', id)}/messages`, { body: { text } }),
      /** `ended` is false when it was over before. */
      end: (id: string, reason?: string) =>
        http.json<{ ended: boolean }>('POST', `${http.path('/v1/agents', id)}/end`, { body: { reason } }),
    },
  }
}
