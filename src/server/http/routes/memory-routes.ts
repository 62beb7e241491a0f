import { isOwnCall } from '../../../approvals/index.ts'
import {
  candidateList,
  candidateQuery,
  exportQuery,
  noteList,
  noteQuery,
  promoted,
  promotion,
  rejected,
  rejection,
} from '../../../protocol/index.ts'
import type { Caller } from '../../service.ts'
import { answerJson } from '../answer/answer-json.ts'
import { answerNothing } from '../answer/answer-nothing.ts'
import { HttpRefusal } from '../answer/http-refusal.ts'
import { API_HEADERS } from '../answer/security-headers.ts'
import type { HttpContext } from '../http-context.ts'
import { defineRoute, type Route } from '../route.ts'

/** What agents remember, and what waits for somebody to look at it. */
export const MEMORY_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/v1/memory/notes',
    summary: 'Notes: those that fit a query, best first, or all, newest first',
    admits: ['read'],
    query: noteQuery,
    answers: [{ description: 'A page of notes', schema: noteList }],
    async handle({ door, query: { tag, ...filter } }) {
      const tags = tag === undefined ? {} : { tags: [tag] }
      return answerJson(await door.service.hub.memory.search({ ...filter, ...tags }))
    },
  }),
  defineRoute({
    method: 'delete',
    path: '/v1/memory/notes/{id}',
    summary: 'Forgets a note',
    admits: ['admin'],
    answers: [{ description: 'It is gone', status: 204 }],
    async handle({ door, caller, params }) {
      const isGone = await door.service.hub.memory.forget(params.get('id')!, { by: caller.name })
      if (!isGone) throw new HttpRefusal(404, 'NOT_FOUND', 'There is no such note.')
      return answerNothing()
    },
  }),
  defineRoute({
    method: 'get',
    path: '/v1/memory/candidates',
    summary: 'Notes that wait for review',
    admits: ['read', 'approve'],
    query: candidateQuery,
    answers: [{ description: 'Newest first', schema: candidateList }],
    async handle({ door: { service }, query }) {
      const { memory } = service.hub
      return answerJson({ candidates: await memory.candidates(query), memory: await memory.status() })
    },
  }),
  defineRoute({
    method: 'post',
    path: '/v1/memory/candidates/{id}/promote',
    summary: 'Makes a candidate a note that agents recall',
    admits: ['approve'],
    body: promotion,
    answers: [{ description: 'The note', schema: promoted }],
    async handle({ door, caller, params, body }) {
      const id = params.get('id')!
      await refuseOwn(door, caller, id)
      return answerJson({ note: await door.service.hub.memory.promote(id, { ...body, by: caller.name }) })
    },
  }),
  defineRoute({
    method: 'post',
    path: '/v1/memory/candidates/{id}/reject',
    summary: 'Decides that a candidate is not to be remembered',
    admits: ['approve'],
    body: rejection,
    answers: [{ description: 'The candidate', schema: rejected }],
    async handle({ door, caller, params, body }) {
      const id = params.get('id')!
      return answerJson({ candidate: await door.service.hub.memory.reject(id, { ...body, by: caller.name }) })
    },
  }),
  defineRoute({
    method: 'get',
    path: '/v1/memory/export',
    summary: 'All notes, a JSON value a line',
    admits: ['read'],
    query: exportQuery,
    answers: [{ description: 'One note a line', mediaType: 'application/x-ndjson' }],
    async handle({ door, query }) {
      const lines = await door.service.hub.memory.export(query)
      const headers = {
        ...API_HEADERS,
        'content-type': 'application/x-ndjson',
        'content-disposition': 'attachment; filename="memory.jsonl"',
      }
      return new Response(streamOf(lines), { headers })
    },
  }),
]

/** As with approvals, somebody else has to look at what one has written, or had written by a session. */
async function refuseOwn({ service }: HttpContext, caller: Caller, id: string): Promise<void> {
  const { memory } = service.hub
  const found = (await memory.candidate(id)) ?? (await memory.find(id))
  const principal = found?.origin.principal
  if (principal === undefined || !isOwnCall(principal, caller.name)) return
  throw new HttpRefusal(403, 'FORBIDDEN', 'This note is your own: somebody else has to review it.')
}

/** As fast as it is read. */
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
