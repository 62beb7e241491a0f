import type { ServiceRequests } from '../../protocol/index.ts'
import type { InboxPage } from './schema.ts'
import type { ChannelFacts } from './types.ts'

/** The requests of a client for the inbox. */
export function messagesClient(http: ServiceRequests) {
  return {
    /** Messages of agents to people, and the channels. */
    inbox: {
      /** Messages, newest first. */
      list: ({ unread, ...page }: { unread?: boolean; before?: string; limit?: number } = {}) =>
        http.json<InboxPage>('GET', '/v1/inbox', { query: { ...page, unread: unread || undefined } }),
      /** Marks messages as read; without ids, all of them. */
      read: (ids?: readonly string[]) =>
        http.json<{ read: number; unread: number }>('POST', '/v1/inbox/read', { body: { ids } }),
      /** The channels to people, with their problems. */
      channels: async () => (await http.json<{ channels: ChannelFacts[] }>('GET', '/v1/channels')).channels,
    },
  }
}
