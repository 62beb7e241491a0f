import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { callDetail, callList, callQuery, callRequest, toolResult } from '../../../protocol/index.ts'
import { answerJson } from '../answer/answer-json.ts'
import { answerCall } from '../call/answer-call.ts'
import { defineOpenRoute, defineRoute, type Route } from '../route.ts'

/** Making calls, and looking at those that were made. */
export const CALL_ROUTES: readonly Route[] = [
  {
    // Asks who calls by itself: the listener hands calls to it without going through here.
    ...defineOpenRoute({
      method: 'post',
      path: '/v1/tools/{name}/call',
      summary: 'Calls a tool, by its canonical name or as models call it',
      body: callRequest,
      isOnItsOwn: true,
      answers: [
        { description: 'What the call gave; 200 also for one that was refused or failed', schema: toolResult },
        {
          description: 'With Accept: text/event-stream: the events of the call, the last is call-ended',
          mediaType: 'text/event-stream',
        },
      ],
      async handle({ door, params, request, response }) {
        await answerCall(door, params.get('name')!, request, response)
        return RESPONSE_ALREADY_SENT
      },
    }),
    admits: ['call'],
  },
  defineRoute({
    method: 'get',
    path: '/v1/calls',
    summary: 'Calls of every run, newest first',
    admits: ['read'],
    query: callQuery,
    answers: [{ description: 'A page of calls', schema: callList }],
    handle: async ({ door, query }) => answerJson(await door.service.book.calls(query)),
  }),
  defineRoute({
    method: 'get',
    path: '/v1/calls/{callId}',
    summary: 'One call with its lines in the record',
    admits: ['read'],
    answers: [{ description: 'The call', schema: callDetail }],
    handle: async ({ door, params }) => answerJson(await door.service.book.call(params.get('callId')!)),
  }),
]
