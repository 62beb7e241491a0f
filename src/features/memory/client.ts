import type { ServiceRequests } from '../../protocol/index.ts'
import type { MemoryCandidate, MemoryNote, MemoryScope } from './types.ts'

/** The requests of a client for memory. */
export function memoryClient(http: ServiceRequests) {
  return {
    /** Notes of agents, and those that wait for review. */
    memory: {
      /** Best first with a query, newest first without. */
      notes: (filter: { query?: string; scope?: MemoryScope; before?: number; limit?: number } = {}) =>
        http.json<{ notes: MemoryNote[]; next?: number }>('GET', '/v1/memory/notes', { query: filter }),
      /** Removes a note; rejects with `NOT_FOUND` if there is none. */
      forget: async (id: string) => void (await http.send('DELETE', http.path('/v1/memory/notes', id))),
      /** Notes that wait for review, newest first, and the settings of memory. */
      candidates: () =>
        http.json<{ candidates: MemoryCandidate[]; memory: { enabled: boolean; writeMode: string } }>(
          'GET',
          '/v1/memory/candidates',
          { query: { limit: 100 } },
        ),
      /** Makes a candidate a note, with the given changes; rejects with `CONFLICT` if it was decided before. */
      promote: (id: string, change: { scope?: MemoryScope; tags?: string[]; content?: string } = {}) =>
        http.json<{ note: MemoryNote }>('POST', `${http.path('/v1/memory/candidates', id)}/promote`, {
          body: change,
        }),
      /** Rejects a candidate; rejects with `CONFLICT` if it was decided before. */
      reject: async (id: string, reason?: string) =>
        void (await http.json('POST', `${http.path('/v1/memory/candidates', id)}/reject`, { body: { reason } })),
    },
  }
}
