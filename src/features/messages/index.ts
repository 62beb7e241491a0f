import { defineFeature, lazyModule } from '../../core/index.ts'
import { messageSend } from './tools/message-send.ts'

const load = lazyModule(() => import('./create-messages.ts'))

/** Messages to people, through the channels of the owner. */
export const messages = defineFeature({
  name: 'messages',
  capability: 'message',
  create: async (options, host) => (await load()).createMessages(options, host),
  methods: ['channels', 'send', 'inbox', 'markRead', 'remove'],
  tools: [messageSend],
})
