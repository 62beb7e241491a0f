import { z } from 'zod'
import {
  changeList,
  recordLine,
  runDetail,
  runList,
  runQuery,
  undoReport,
  undoRequest,
} from '../../../protocol/index.ts'
import { answerJson } from '../answer/answer-json.ts'
import { answerNothing } from '../answer/answer-nothing.ts'
import { API_HEADERS } from '../answer/security-headers.ts'
import { socketSignal } from '../call/socket-signal.ts'
import { defineRoute, type Route } from '../route.ts'

const lineQuery = z.object({
  /** `seq` of the last line that is known. */
  after: z.coerce.number().int().min(-1).default(-1),
  limit: z.coerce.number().int().min(1).max(1_000).default(200),
})
const lineList = z.object({ lines: z.array(recordLine) })

/** Runs, their records and what they changed. */
export const RUN_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/v1/runs',
    summary: 'Runs by caller, time and text, newest first',
    admits: ['read'],
    query: runQuery,
    answers: [{ description: 'A page of runs', schema: runList }],
    handle: async ({ door, query }) => answerJson(await door.service.book.runs(query)),
  }),
  defineRoute({
    method: 'get',
    path: '/v1/runs/{run}',
    summary: 'A run and its calls',
    admits: ['read'],
    answers: [{ description: 'The run', schema: runDetail }],
    handle: async ({ door, params }) => answerJson(await door.service.book.run(params.get('run')!)),
  }),
  defineRoute({
    method: 'delete',
    path: '/v1/runs/{run}',
    summary: 'Removes a run that has ended; its hash stays on record',
    admits: ['admin'],
    answers: [{ description: 'It is removed', status: 204 }],
    async handle({ door, caller, params }) {
      await door.service.book.remove(params.get('run')!, { by: caller.name })
      return answerNothing()
    },
  }),
  defineRoute({
    method: 'get',
    path: '/v1/runs/{run}/lines',
    summary: 'Lines of the record of a run',
    admits: ['read'],
    query: lineQuery,
    answers: [{ description: 'Lines, oldest first', schema: lineList }],
    handle: async ({ door, params, query }) =>
      answerJson({ lines: await door.service.book.lines(params.get('run')!, query) }),
  }),
  defineRoute({
    method: 'get',
    path: '/v1/runs/{run}/export',
    summary: 'The record of a run as it is on disk',
    admits: ['read'],
    answers: [{ description: 'One JSON value a line', mediaType: 'application/x-ndjson' }],
    async handle({ door, params }) {
      const run = params.get('run')!
      const record = await door.service.book.export(run)
      const headers = {
        ...API_HEADERS,
        'content-type': 'application/x-ndjson',
        'content-disposition': `attachment; filename="${run.replaceAll(/[^\w.-]/g, '_').slice(0, 100)}.jsonl"`,
      }
      return new Response(record, { headers })
    },
  }),
  defineRoute({
    method: 'get',
    path: '/v1/runs/{run}/changes',
    summary: 'Files that the calls of a run changed, newest first',
    admits: ['read'],
    answers: [{ description: 'The changes', schema: changeList }],
    handle: async ({ door, params }) => answerJson({ changes: await door.service.book.changes(params.get('run')!) }),
  }),
  defineRoute({
    method: 'post',
    path: '/v1/runs/{run}/undo',
    summary: 'Takes back what a call or a run changed in files',
    admits: ['admin'],
    body: undoRequest,
    answers: [{ description: 'What was taken back', schema: undoReport }],
    async handle({ door, caller, params, body, request }) {
      const wish = { ...body, by: caller.name, signal: socketSignal(request.socket) }
      return answerJson(await door.service.book.undo(params.get('run')!, wish))
    },
  }),
]
