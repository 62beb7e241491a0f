import { defineFeatureRoute, type FeatureRoute, type FeatureRoutes, type RouteCaller, ToolError } from '@tool-hub/core'
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

const ROUTES: readonly FeatureRoute[] = [
  defineFeatureRoute({
    method: 'get',
    path: '/v1/memory/notes',
    client: 'memory.notes',
    summary: 'Lists notes: matches of a query, best first, or all, newest first',
    allow: ['read'],
    query: noteQuery,
    answers: [{ description: 'A page of notes', schema: noteList }],
    handle: ({ hub, query: { tag, ...filter } }) =>
      hub.memory.search({ ...filter, ...(tag === undefined ? {} : { tags: [tag] }) }),
  }),
  defineFeatureRoute({
    method: 'delete',
    path: '/v1/memory/notes/{id}',
    client: { name: 'memory.forget', note: 'Rejects with `NOT_FOUND` if there is none.' },
    summary: 'Forgets a note',
    allow: ['admin'],
    answers: [{ description: 'The note is removed', status: 204 }],
    async handle({ hub, caller, param }) {
      const isGone = await hub.memory.forget(param('id'), { by: caller.name })
      if (!isGone) throw new ToolError('NOT_FOUND', 'Note not found.')
    },
  }),
  defineFeatureRoute({
    method: 'get',
    path: '/v1/memory/candidates',
    client: 'memory.candidates',
    summary: 'Lists notes that wait for review',
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
    client: { name: 'memory.promote', note: 'Rejects with `CONFLICT` if it was decided before.' },
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
    client: { name: 'memory.reject', note: 'Rejects with `CONFLICT` if it was decided before.', takes: ['reason'] },
    summary: 'Rejects a candidate',
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
    summary: 'Exports all notes as JSON lines',
    allow: ['read'],
    query: exportQuery,
    answers: [{ description: 'One note per line', mediaType: 'application/x-ndjson' }],
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
  resources: { memory: 'Notes of agents, and those that wait for review.' },
  schemas: { MemoryCandidate: memoryCandidate, MemoryNote: memoryNote },
  routes: ROUTES,
}

/** As with approvals, callers cannot review what they, or their sessions, have written. */
async function refuseOwn(memory: MemoryService, caller: RouteCaller, id: string): Promise<void> {
  const found = (await memory.candidate(id)) ?? (await memory.find(id))
  const principal = found?.origin.principal
  if (principal === undefined || !caller.isBehind(principal)) return
  throw new ToolError('FORBIDDEN', 'This note is your own: somebody else has to review it.')
}

/** A stream of the lines, read as the client consumes them. */
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
