import {
  agentEnded,
  agentEntry,
  agentHistory,
  agentHistoryQuery,
  agentLetter,
  agentLetterOutcome,
  agentList,
  agentQuery,
  agentStatus,
  endAgent,
  newAgent,
} from '../../../features/sessions/index.ts'
import { escapeText } from '../../../lib/index.ts'
import { answerJson } from '../answers.ts'
import { defineRoute, type Route } from '../route.ts'

/** Sessions of agents; `/v1/sessions` is the sign-in of people. */
export const AGENT_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/v1/agents',
    summary: 'Sessions of agents, newest first',
    allow: ['read'],
    query: agentQuery,
    answers: [{ description: 'A page of sessions', schema: agentList }],
    async handle({ context, query }) {
      const { sessions } = context.service.hub
      const [page, runners] = await Promise.all([sessions.list(query), sessions.runners()])
      return answerJson(harmless({ agents: page.sessions, next: page.next, runners }))
    },
  }),
  defineRoute({
    method: 'post',
    path: '/v1/agents',
    summary: 'Begins a session with a runner',
    allow: ['admin'],
    body: newAgent,
    answers: [{ description: 'The session, which goes on', schema: agentEntry, status: 201 }],
    async handle({ context, caller, body }) {
      const session = await context.service.hub.sessions.spawn({ ...body, by: caller.name })
      return answerJson(harmless(session), { status: 201 })
    },
  }),
  defineRoute({
    method: 'get',
    path: '/v1/agents/{id}',
    summary: 'How a session is',
    allow: ['read'],
    answers: [{ description: 'The session', schema: agentStatus }],
    handle: async ({ context, params }) =>
      answerJson(harmless(await context.service.hub.sessions.find(params.get('id')!))),
  }),
  defineRoute({
    method: 'get',
    path: '/v1/agents/{id}/history',
    summary: 'What happened in a session, the newest part unless said',
    allow: ['read'],
    query: agentHistoryQuery,
    answers: [{ description: 'Calls and messages, oldest first', schema: agentHistory }],
    handle: async ({ context, params, query }) =>
      answerJson(harmless(await context.service.hub.sessions.history(params.get('id')!, query))),
  }),
  defineRoute({
    method: 'post',
    path: '/v1/agents/{id}/messages',
    summary: 'Writes to a session as the owner',
    allow: ['admin'],
    body: agentLetter,
    answers: [{ description: 'What became of it', schema: agentLetterOutcome }],
    handle: async ({ context, caller, params, body }) =>
      answerJson(harmless(await context.service.hub.sessions.send(params.get('id')!, { ...body, by: caller.name }))),
  }),
  defineRoute({
    method: 'post',
    path: '/v1/agents/{id}/end',
    summary: 'Ends a session and all that it began',
    allow: ['admin'],
    body: endAgent,
    answers: [{ description: 'Whether it went on until now', schema: agentEnded }],
    async handle({ context, caller, params, body }) {
      const ended = await context.service.hub.sessions.end(params.get('id')!, { ...body, by: caller.name })
      return answerJson({ ended })
    },
  }),
]

/** What models and runners have written, made harmless for people: it can neither drive a terminal nor reorder words. */
function harmless<T>(value: T): T {
  if (typeof value === 'string') return escapeText(value) as T
  if (Array.isArray(value)) return value.map(harmless) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, harmless(item)])) as T
}
