import type { ChannelOptions, MessagesOptions } from '../contracts/messages.ts'
import type { WrittenMessages } from './messages-schema.ts'
import { parseDuration, parseRate } from './units.ts'
import { withoutUndefined } from './without-undefined.ts'

type WrittenChannel = NonNullable<WrittenMessages['channels']>[string]

/** What `messages` says, in the words of `createToolHub`; references are filled in when a channel is used. */
export function toMessages({ channels = {} }: WrittenMessages): MessagesOptions {
  return { channels: Object.fromEntries(Object.entries(channels).map(([name, written]) => [name, toChannel(written)])) }
}

function toChannel({ rate, timeout, ...rest }: WrittenChannel): ChannelOptions {
  return withoutUndefined({
    ...rest,
    ...('chats' in rest && { chats: rest.chats.map(String) }),
    rate: typeof rate === 'string' ? parseRate(rate) : rate,
    timeoutMs: timeout === undefined ? undefined : parseDuration(timeout),
  }) as ChannelOptions
}
