import { defineFeatureRoute, type FeatureRequest, type FeatureRoute, type FeatureRoutes } from '@tool-hub/core'
import { escapeText } from '@tool-hub/core/lib'
import {
  agentEnded,
  agentEntry,
  agentHistory,
  agentHistoryQuery,
  agentList,
  agentMessageOutcome,
  agentQuery,
  agentStatus,
  endAgent,
  newAgent,
  newAgentMessage,
} from './schema.ts'

/** The id of a session is that of its run. */
const run = ({ param }: FeatureRequest) => param('id')

const ROUTES: readonly FeatureRoute[] = [
  defineFeatureRoute({
    method: 'get',
    path: '/v1/agents',
    client: { name: 'agents.list', note: '`principal` filters by the principal that they work for.' },
    summary: 'Sessions of agents, newest first',
    allow: ['read'],
    query: agentQuery,
    answers: [{ description: 'A page of sessions', schema: agentList }],
    async handle({ hub: { sessions }, query }) {
      const [page, runners] = await Promise.all([sessions.list(query), sessions.runners()])
      return escapeTexts({ agents: page.sessions, next: page.next, runners })
    },
  }),
  defineFeatureRoute({
    method: 'post',
    path: '/v1/agents',
    summary: 'Starts a session with a runner',
    allow: ['admin'],
    body: newAgent,
    answers: [{ description: 'The session, which continues', schema: agentEntry, status: 201 }],
    handle: async ({ hub, caller, body }) => escapeTexts(await hub.sessions.spawn({ ...body, by: caller.name })),
  }),
  defineFeatureRoute({
    method: 'get',
    path: '/v1/agents/{id}',
    client: { name: 'agents.get', note: 'Rejects with `NOT_FOUND` if there is none.' },
    summary: 'The state of a session',
    allow: ['read'],
    answers: [{ description: 'The session', schema: agentStatus }],
    run,
    handle: async ({ hub, param }) => escapeTexts(await hub.sessions.find(param('id'))),
  }),
  defineFeatureRoute({
    method: 'get',
    path: '/v1/agents/{id}/history',
    client: 'agents.history',
    summary: 'What happened in a session. Default: the newest part',
    allow: ['read'],
    query: agentHistoryQuery,
    answers: [{ description: 'Calls and messages, oldest first', schema: agentHistory }],
    run,
    handle: async ({ hub, param, query }) => escapeTexts(await hub.sessions.history(param('id'), query)),
  }),
  defineFeatureRoute({
    method: 'post',
    path: '/v1/agents/{id}/messages',
    client: { name: 'agents.send', takes: ['text'], note: '`status` is the outcome.' },
    summary: 'Writes to a session as the owner',
    allow: ['admin'],
    body: newAgentMessage,
    answers: [{ description: 'The outcome', schema: agentMessageOutcome }],
    run,
    handle: async ({ hub, caller, param, body }) =>
      escapeTexts(await hub.sessions.send(param('id'), { ...body, by: caller.name })),
  }),
  defineFeatureRoute({
    method: 'post',
    path: '/v1/agents/{id}/end',
    client: { name: 'agents.end', takes: ['reason'], note: '`ended` is false if it was over already.' },
    summary: 'Ends a session and every session it started',
    allow: ['admin'],
    body: endAgent,
    answers: [{ description: 'Whether it was still running', schema: agentEnded }],
    run,
    handle: async ({ hub, caller, param, body }) => ({
      ended: await hub.sessions.end(param('id'), { ...body, by: caller.name }),
    }),
  }),
]

/** The HTTP routes of sessions: `/v1/agents`, since `/v1/sessions` is the sign-in of people. */
export const sessionsRoutes: FeatureRoutes = {
  resources: { agents: 'Sessions of agents: their history, messages to them, and how to end one.' },
  schemas: { Agent: agentEntry },
  routes: ROUTES,
}

/** Escapes the texts of models and runners, which could otherwise drive a terminal or reorder words. */
function escapeTexts<T>(value: T): T {
  if (typeof value === 'string') return escapeText(value) as T
  if (Array.isArray(value)) return value.map(escapeTexts) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, escapeTexts(item)])) as T
}
