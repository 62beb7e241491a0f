import {
  changeList,
  clearedTaint,
  clearTaintRequest,
  lineList,
  lineQuery,
  runDetail,
  runLaterList,
  runList,
  runQuery,
  runTaint,
  undoReport,
  undoRequest,
} from '@tool-hub/core/protocol'
import { API_HEADERS, answerJson, answerNothing } from '../answers.ts'
import { socketSignal } from '../request.ts'
import { defineRoute, type Route } from '../route.ts'

/** Runs, their records and what they changed. */
export const RUN_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/v1/runs',
    client: {
      name: 'runs.list',
      note: '`caller` is a caller or a principal; `text` is looked for in ids, goals, tools, targets and summaries.',
    },
    summary: 'Runs by caller, time and text, newest first',
    allow: ['read'],
    query: runQuery,
    answers: [{ description: 'A page of runs', schema: runList }],
    handle: async ({ context, query }) => answerJson(await context.service.history.runs(query)),
  }),
  defineRoute({
    method: 'get',
    path: '/v1/runs/{run}',
    client: { name: 'runs.get', note: 'Rejects with `NOT_FOUND` if there is none.' },
    summary: 'A run and its calls',
    allow: ['read'],
    answers: [{ description: 'The run', schema: runDetail }],
    handle: async ({ context, param }) => answerJson(await context.service.history.run(param('run'))),
  }),
  defineRoute({
    method: 'delete',
    path: '/v1/runs/{run}',
    client: {
      name: 'runs.remove',
      note: 'Rejects with `CONFLICT` while a call or a session runs in it, or if its record does not verify.',
    },
    summary: 'Removes a run that has ended; its hash stays on record',
    allow: ['admin'],
    answers: [{ description: 'It is removed', status: 204 }],
    async handle({ context, caller, param }) {
      await context.service.history.remove(param('run'), { by: caller.name })
      return answerNothing()
    },
  }),
  defineRoute({
    method: 'get',
    path: '/v1/runs/{run}/lines',
    client: { name: 'runs.lines', note: '`after` is the number of the last line before the page.', returns: 'lines' },
    summary: 'Lines of the record of a run',
    allow: ['read'],
    query: lineQuery,
    answers: [{ description: 'Lines, oldest first', schema: lineList }],
    handle: async ({ context, param, query }) =>
      answerJson({ lines: await context.service.history.lines(param('run'), query) }),
  }),
  defineRoute({
    method: 'get',
    path: '/v1/runs/{run}/export',
    client: 'runs.export',
    summary: 'The record of a run as it is on disk',
    allow: ['read'],
    answers: [{ description: 'One JSON value a line', mediaType: 'application/x-ndjson' }],
    async handle({ context, param }) {
      const run = param('run')
      const record = await context.service.history.export(run)
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
    client: { name: 'runs.changes', returns: 'changes' },
    summary: 'Files that the calls of a run changed, newest first',
    allow: ['read'],
    answers: [{ description: 'The changes', schema: changeList }],
    handle: async ({ context, param }) => answerJson({ changes: await context.service.history.changes(param('run')) }),
  }),
  defineRoute({
    method: 'get',
    path: '/v1/runs/{run}/run-later',
    client: 'runs.runLater',
    summary: 'Files that run by themselves and that a run has changed',
    allow: ['read', 'approve'],
    answers: [{ description: 'The files', schema: runLaterList }],
    handle: async ({ context, param }) => answerJson(await context.service.history.runLater(param('run'))),
  }),
  defineRoute({
    method: 'get',
    path: '/v1/runs/{run}/taint',
    client: 'runs.taint',
    summary: 'What a run has read from outside, and who cleared it of that',
    allow: ['read', 'approve'],
    answers: [{ description: 'Its taint', schema: runTaint }],
    handle: async ({ context, param }) => answerJson(await context.service.history.taint(param('run'))),
  }),
  defineRoute({
    method: 'post',
    path: '/v1/runs/{run}/clear-taint',
    client: {
      name: 'runs.clearTaint',
      note: 'Rejects with `CONFLICT` if it is not tainted, or if a call with such content still runs.',
    },
    summary: 'Lets a run count as one that has read nothing from outside, until it does; nobody clears their own runs',
    allow: ['approve'],
    body: clearTaintRequest,
    answers: [{ description: 'The taint that was cleared', schema: clearedTaint }],
    handle: async ({ context, caller, param, body }) =>
      answerJson(await context.service.hub.clearTaint(param('run'), { ...body, by: caller.name })),
  }),
  defineRoute({
    method: 'post',
    path: '/v1/runs/{run}/undo',
    client: { name: 'runs.undo', note: 'With `dryRun`, only says what would happen.' },
    summary: 'Takes back what a call or a run changed in files',
    allow: ['admin'],
    body: undoRequest,
    answers: [{ description: 'What was taken back', schema: undoReport }],
    async handle({ context, caller, param, body, request }) {
      const wish = { ...body, by: caller.name, signal: socketSignal(request.socket) }
      return answerJson(await context.service.history.undo(param('run'), wish))
    },
  }),
]
