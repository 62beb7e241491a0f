import { createMemoryStore } from '@tool-hub/library/stores'
import type {
  ChannelIo,
  ChannelRequest,
  OutgoingMessage,
  SentRequest,
} from '../../packages/features/src/messages/channel.ts'
import { type ChannelContext, readReferences } from '../../packages/features/src/messages/channels/channel-settings.ts'

/** What a built-in channel named `ops` is made of, and an io that notes what it sends instead of sending it. */
export function channelBench(host: Partial<ChannelContext['host']> = {}) {
  const [hidden, announced, told]: [string[], SentRequest[], unknown[]] = [[], [], []]
  const fetched: (ChannelRequest & { readonly url: string })[] = []
  const answer = { status: 200, text: '', headers: new Headers() }
  const store = createMemoryStore()
  const hide = (values: readonly string[]) => void hidden.push(...values)
  const parts = {
    name: 'ops',
    references: readReferences('ops', { secret: () => undefined, hide }),
    redact: (text: string) => text.replaceAll('hunter2', '[redacted]'),
    host: { hide, store, emitChange: (...change: unknown[]) => void told.push(change), ...host },
  } as ChannelContext
  const io: ChannelIo = {
    ...{ channel: 'ops', signal: new AbortController().signal, callId: 'call 1', run: 'r1', caller: 'me' },
    isTainted: false,
    now: () => 1_767_225_600_000,
    secret: () => undefined,
    announce: async (request) => void announced.push(request),
    fetch: async (url, request) => {
      fetched.push({ url, ...request })
      return answer
    },
  }
  return { parts, io, answer, store, hidden, announced, told, fetched }
}

/** A message with nothing but a text. */
export function plainMessage(more: Partial<OutgoingMessage> = {}): OutgoingMessage {
  return { to: [], text: 'Hi', level: 'info', attachments: [], ...more }
}
