import type { ServiceRequests } from '../../protocol/index.ts'
import type { MemoryCandidateEntry, MemoryNoteEntry } from './schema.ts'
import type { MemoryScope } from './types.ts'

/** The requests of a client for memory. */
export function memoryClient(http: ServiceRequests) {
  return {
    /** Notes of agents, and those that wait for review. */
    memory: {
      /** Best first with a query, else newest first. */
      notes: (filter: { query?: string; scope?: MemoryScope; before?: number; limit?: number } = {}) =>
        http.json<{ notes: MemoryNoteEntry[]; next?: number }>('GET', '/v1/memory/notes', { query: filter }),
      /** Removes a note; rejects with `NOT_FOUND` if there is none. */
      forget: async (id: string) => void (await http.send('DELETE', http.path('/v1/memory/notes', id))),
      /** What waits for review, newest first, and how notes are written here. */
      candidates: () =>
        http.json<{ candidates: MemoryCandidateEntry[]; memory: { enabled: boolean; writeMode: string } }>(
          'GET',
          '/v1/memory/candidates',
          { query: { limit: 100 } },
        ),
      /** What is said takes the place of what was written. CONFLICT when it was decided before. */
      promote: (id: string, change: { scope?: MemoryScope; tags?: string[]; content?: string } = {}) =>
        http.json<{ note: MemoryNoteEntry }>('POST', `${http.path('/v1/memory/candidates', id)}/promote`, {
          body: change,
        }),
      /** Decides that it does not become a note. CONFLICT when it was decided before. */
      reject: async (id: string, reason?: string) =>
        void (await http.json('POST', `${http.path('/v1/memory/candidates', id)}/reject`, { body: { reason } })),
    },
  }
}
