import { channelList, inboxPage, inboxQuery, readMessages, readOutcome } from '../../../protocol/index.ts'
import { answerJson } from '../answer/answer-json.ts'
import { answerNothing } from '../answer/answer-nothing.ts'
import { HttpRefusal } from '../answer/http-refusal.ts'
import { defineRoute, type Route } from '../route.ts'

/** What agents told the people at the console, and the ways to people there are. */
export const INBOX_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/v1/inbox',
    summary: 'Messages of agents to the people at the console',
    admits: ['read'],
    query: inboxQuery,
    answers: [{ description: 'Messages, newest first', schema: inboxPage }],
    async handle({ door, query: { unread, before, limit } }) {
      return answerJson(await door.service.hub.messages.inbox({ unread: unread === 'true', before, limit }))
    },
  }),
  defineRoute({
    method: 'post',
    path: '/v1/inbox/read',
    summary: 'Says that messages were read; without ids, all',
    admits: ['approve', 'admin'],
    body: readMessages,
    answers: [{ description: 'How many that were, and how many are left', schema: readOutcome }],
    async handle({ door, body: { ids } }) {
      const { messages } = door.service.hub
      const read = await messages.markRead(ids)
      const { unread } = await messages.inbox({ limit: 1 })
      return answerJson({ read, unread })
    },
  }),
  defineRoute({
    method: 'delete',
    path: '/v1/inbox/{id}',
    summary: 'Takes a message out of the inbox',
    admits: ['admin'],
    answers: [{ description: 'It is gone', status: 204 }],
    async handle({ door, params }) {
      if (await door.service.hub.messages.remove(params.get('id')!)) return answerNothing()
      throw new HttpRefusal(404, 'NOT_FOUND', 'There is no such message.')
    },
  }),
  defineRoute({
    method: 'get',
    path: '/v1/channels',
    summary: 'The ways to people, and what keeps some from working',
    admits: ['read'],
    answers: [{ description: 'Channels', schema: channelList }],
    handle: async ({ door }) => answerJson({ channels: await door.service.hub.messages.channels() }),
  }),
]
