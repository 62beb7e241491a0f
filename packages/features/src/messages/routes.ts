import { defineFeatureRoute, type FeatureRoute, type FeatureRoutes, ToolError } from '@tool-hub/core'
import { channelList, inboxMessage, inboxPage, inboxQuery, readMessages, readOutcome } from './schema.ts'

const ROUTES: readonly FeatureRoute[] = [
  defineFeatureRoute({
    method: 'get',
    path: '/v1/inbox',
    client: 'inbox.list',
    summary: 'Lists messages of agents to the people at the console',
    allow: ['read'],
    query: inboxQuery,
    answers: [{ description: 'Messages, newest first', schema: inboxPage }],
    handle: ({ hub, query: { unread, before, limit } }) =>
      hub.messages.inbox({ unread: unread === 'true', before, limit }),
  }),
  defineFeatureRoute({
    method: 'post',
    path: '/v1/inbox/read',
    client: { name: 'inbox.read', takes: ['ids'] },
    summary: 'Marks messages as read; without ids, all of them',
    allow: ['approve', 'admin'],
    body: readMessages,
    answers: [{ description: 'How many were unread, and how many still are', schema: readOutcome }],
    async handle({ hub: { messages }, body: { ids } }) {
      const read = await messages.markRead(ids)
      const { unread } = await messages.inbox({ limit: 1 })
      return { read, unread }
    },
  }),
  defineFeatureRoute({
    method: 'delete',
    path: '/v1/inbox/{id}',
    summary: 'Removes a message from the inbox',
    allow: ['admin'],
    answers: [{ description: 'The message is removed', status: 204 }],
    async handle({ hub, param }) {
      if (!(await hub.messages.remove(param('id')))) throw new ToolError('NOT_FOUND', 'Message not found.')
    },
  }),
  defineFeatureRoute({
    method: 'get',
    path: '/v1/channels',
    client: { name: 'inbox.channels', returns: 'channels' },
    summary: 'Lists the channels to people, with their problems',
    allow: ['read'],
    answers: [{ description: 'Channels', schema: channelList }],
    handle: async ({ hub }) => ({ channels: await hub.messages.channels() }),
  }),
]

/** The HTTP routes of messages: the inbox of the console, and the channels. */
export const messagesRoutes: FeatureRoutes = {
  resources: { inbox: 'Messages of agents to people, and the channels.' },
  schemas: { InboxMessage: inboxMessage },
  routes: ROUTES,
}
