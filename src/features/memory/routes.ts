import {
  defineFeatureRoute,
  type FeatureRoute,
  type FeatureRoutes,
  type RouteCaller,
  ToolError,
} from '../../core/index.ts'
import {
  candidateList,
  candidateQuery,
  exportQuery,
  memoryCandidate,
  memoryNote,
  noteList,
  noteQuery,
  promoted,
  promotion,
  rejected,
  rejection,
} from './schema.ts'
import type { MemoryService } from './types.ts'

/** What agents remember, and what waits for somebody to look at it. */
const ROUTES: readonly FeatureRoute[] = [
  defineFeatureRoute({
    method: 'get',
    path: '/v1/memory/notes',
    summary: 'Notes: those that fit a query, best first, or all, newest first',
    allow: ['read'],
    query: noteQuery,
    answers: [{ description: 'A page of notes', schema: noteList }],
    handle: ({ hub, query: { tag, ...filter } }) =>
      hub.memory.search({ ...filter, ...(tag === undefined ? {} : { tags: [tag] }) }),
  }),
  defineFeatureRoute({
    method: 'delete',
    path: '/v1/memory/notes/{id}',
    summary: 'Forgets a note',
    allow: ['admin'],
    answers: [{ description: 'It is gone', status: 204 }],
    async handle({ hub, caller, param }) {
      const isGone = await hub.memory.forget(param('id'), { by: caller.name })
      if (!isGone) throw new ToolError('NOT_FOUND', 'There is no such note.')
    },
  }),
  defineFeatureRoute({
    method: 'get',
    path: '/v1/memory/candidates',
    summary: 'Notes that wait for review',
    allow: ['read', 'approve'],
    query: candidateQuery,
    answers: [{ description: 'Newest first', schema: candidateList }],
    handle: async ({ hub: { memory }, query }) => ({
      candidates: await memory.candidates(query),
      memory: await memory.status(),
    }),
  }),
  defineFeatureRoute({
    method: 'post',
    path: '/v1/memory/candidates/{id}/promote',
    summary: 'Makes a candidate a note that agents recall',
    allow: ['approve'],
    body: promotion,
    answers: [{ description: 'The note', schema: promoted }],
    async handle({ hub, caller, param, body }) {
      await refuseOwn(hub.memory, caller, param('id'))
      return { note: await hub.memory.promote(param('id'), { ...body, by: caller.name }) }
    },
  }),
  defineFeatureRoute({
    method: 'post',
    path: '/v1/memory/candidates/{id}/reject',
    summary: 'Decides that a candidate is not to be remembered',
    allow: ['approve'],
    body: rejection,
    answers: [{ description: 'The candidate', schema: rejected }],
    handle: async ({ hub, caller, param, body }) => ({
      candidate: await hub.memory.reject(param('id'), { ...body, by: caller.name }),
    }),
  }),
  defineFeatureRoute({
    method: 'get',
    path: '/v1/memory/export',
    summary: 'All notes, a JSON value a line',
    allow: ['read'],
    query: exportQuery,
    answers: [{ description: 'One note a line', mediaType: 'application/x-ndjson' }],
    async handle({ hub, query }) {
      const headers = {
        'content-type': 'application/x-ndjson',
        'content-disposition': 'attachment; filename="memory.jsonl"',
      }
      return new Response(streamOf(await hub.memory.export(query)), { headers })
    },
  }),
]

/** The HTTP routes of memory. */
export const memoryRoutes: FeatureRoutes = {
  schemas: { MemoryCandidate: memoryCandidate, MemoryNote: memoryNote },
  routes: ROUTES,
}

/** As with approvals, somebody else has to review what the caller, or a session of the caller, has written. */
async function refuseOwn(memory: MemoryService, caller: RouteCaller, id: string): Promise<void> {
  const found = (await memory.candidate(id)) ?? (await memory.find(id))
  const principal = found?.origin.principal
  if (principal === undefined || !caller.isBehind(principal)) return
  throw new ToolError('FORBIDDEN', 'This note is your own: somebody else has to review it.')
}

/** The lines, each read when the client takes it. */
function streamOf(lines: AsyncIterable<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const iterator = lines[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(`${value}\n`))
    },
    async cancel() {
      await iterator.return?.()
    },
  })
}
