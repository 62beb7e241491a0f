import { channelList, inboxPage, inboxQuery, readMessages, readOutcome } from '../../../protocol/index.ts'
import { answerJson, answerNothing, HttpRefusal } from '../answers.ts'
import { defineRoute, type Route } from '../route.ts'

/** What agents told the people at the console, and the ways to people there are. */
export const INBOX_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/v1/inbox',
    summary: 'Messages of agents to the people at the console',
    allow: ['read'],
    query: inboxQuery,
    answers: [{ description: 'Messages, newest first', schema: inboxPage }],
    async handle({ context, query: { unread, before, limit } }) {
      return answerJson(await context.service.hub.messages.inbox({ unread: unread === 'true', before, limit }))
    },
  }),
  defineRoute({
    method: 'post',
    path: '/v1/inbox/read',
    summary: 'Says that messages were read; without ids, all',
    allow: ['approve', 'admin'],
    body: readMessages,
    answers: [{ description: 'How many that were, and how many are left', schema: readOutcome }],
    async handle({ context, body: { ids } }) {
      const { messages } = context.service.hub
      const read = await messages.markRead(ids)
      const { unread } = await messages.inbox({ limit: 1 })
      return answerJson({ read, unread })
    },
  }),
  defineRoute({
    method: 'delete',
    path: '/v1/inbox/{id}',
    summary: 'Takes a message out of the inbox',
    allow: ['admin'],
    answers: [{ description: 'It is gone', status: 204 }],
    async handle({ context, params }) {
      if (await context.service.hub.messages.remove(params.get('id')!)) return answerNothing()
      throw new HttpRefusal(404, 'NOT_FOUND', 'There is no such message.')
    },
  }),
  defineRoute({
    method: 'get',
    path: '/v1/channels',
    summary: 'The ways to people, and what keeps some from working',
    allow: ['read'],
    answers: [{ description: 'Channels', schema: channelList }],
    handle: async ({ context }) => answerJson({ channels: await context.service.hub.messages.channels() }),
  }),
]
