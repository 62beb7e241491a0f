import { defineFeature, lazyModule } from '@tool-hub/core'
import type { InboxStore, MessageHandle, MessageService, MessagesOptions } from './types.ts'

export type {
  Channel,
  ChannelAnswer,
  ChannelBounds,
  ChannelIo,
  ChannelLimits,
  ChannelOptions,
  ChannelRecipients,
  ChannelRequest,
  Delivery,
  MessageFile,
  OutgoingMessage,
  SentRequest,
} from './channel.ts'
export type {
  ChannelFacts,
  InboxMessage,
  MessageHandle,
  MessageOutcome,
  MessageService,
  MessagesOptions,
  NewMessage,
} from './types.ts'

declare module '@tool-hub/core/feature' {
  interface FeatureHandles {
    /** Messages to people, through the channels of the owner. */
    readonly messages: MessageHandle
  }
  interface FeatureServices {
    /** Messages to people: channels and inbox; loaded when it is first used. */
    readonly messages: MessageService
  }
  interface FeatureOptions {
    /** How agents reach people; docs/reference/messages.md. */
    readonly messages?: MessagesOptions
  }
  interface FeatureStores {
    /** Messages to the people at the console. */
    readonly inbox: InboxStore
  }
}

const load = lazyModule(() => import('./create-messages.ts'))

/** Messages to people, through the channels of the owner. */
export const messages = defineFeature({
  name: 'messages',
  capability: 'message',
  create: async (options, host) => (await load()).createMessages(options, host),
  methods: ['channels', 'send', 'inbox', 'markRead', 'remove'],
  command: { name: 'messages', summary: 'Read the inbox, list channels, send messages' },
})
