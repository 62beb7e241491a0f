import { defineConfig } from '@tool-hub/core'
import { duration, key, parseDuration, parseRate, rate, text, withoutUndefined } from '@tool-hub/core/config'
import { z } from 'zod'
import type { ChannelOptions } from './channel.ts'
import type { MessagesOptions } from './types.ts'

const REFERENCE = /^\$\{(?:env|secret):[A-Za-z_][A-Za-z0-9_.-]*\}$/

/** A value that must not be in the config file itself. */
const reference = z
  .string()
  .regex(REFERENCE, 'a reference, ${env:NAME} or ${secret:name}: the value itself never stands in a config')

const url = z.union([z.url({ protocol: /^https?$/ }), reference])

const common = {
  rate: key(rate, 'Maximum rate of messages.', '10/min'),
  perDay: key(z.int().min(1), 'Maximum messages per day.'),
  timeout: key(duration, 'Timeout for one message.', '30s'),
}

const webhook = z.strictObject({
  kind: z.literal('webhook').describe('A URL that receives each message as signed JSON.'),
  url: url.describe('Where to send it.'),
  secret: reference.describe('The key that signs it, at least 24 characters.'),
  ...common,
})

const slack = z.strictObject({
  kind: z.literal('slack').describe('An incoming webhook of Slack, Mattermost or Rocket.Chat.'),
  url: reference.describe('Its URL, which is a secret.'),
  mentions: key(z.boolean(), 'Lets messages mention people and whole channels.', false),
  blocks: key(z.boolean(), 'Shows the title as a heading of its own.', false),
  ...common,
})

const discord = z.strictObject({
  kind: z.literal('discord').describe('A webhook of Discord.'),
  url: reference.describe('Its URL, which is a secret.'),
  mentions: key(z.boolean(), 'Lets messages mention people and whole channels.', false),
  username: key(text.max(80), 'Name of the sender. Default: that of the webhook.'),
  ...common,
})

const telegram = z.strictObject({
  kind: z.literal('telegram').describe('A bot of Telegram.'),
  token: reference.describe('Token of the bot, from BotFather.'),
  chats: z
    .array(z.union([text, z.int()]))
    .min(1)
    .describe('Chats it may write to, by number or @name; messages without a recipient go to the first.'),
  apiUrl: key(z.url({ protocol: /^https?$/ }), 'URL of the bot API.', 'https://api.telegram.org'),
  ...common,
})

const smtp = z.strictObject({
  kind: z.literal('smtp').describe('A mail server.'),
  host: text.describe('Its name or address.'),
  port: key(z.int().min(1).max(65_535), 'Default: 587; 465 with tls: implicit.'),
  tls: key(
    z.enum(['starttls', 'implicit', 'none']),
    'Default: starttls; implicit on port 465. none sends without encryption.',
  ),
  user: key(text, 'User name.'),
  password: key(reference, 'The password.'),
  from: text.describe('hub@example.org, or Tool Hub <hub@example.org>.'),
  replyTo: key(text, 'Address for replies.'),
  to: key(z.array(text), 'Recipients of messages that name none.'),
  recipients: key(
    z.array(text),
    'Other recipients that messages may name: anna@example.org, *@example.org, *@*.example.org, *.',
  ),
  ca: key(reference, "Certificate authorities (PEM) to trust instead of the system's."),
  ...common,
})

const console = z.strictObject({
  kind: z.literal('console').describe('The inbox of the console; always exists, with the name console.'),
  ...common,
})

const section = z.strictObject({
  channels: key(
    z
      .record(
        z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/, 'small letters, digits, _ and -, at most 32, a letter first'),
        z.discriminatedUnion('kind', [webhook, slack, discord, telegram, smtp, console]),
      )
      .meta({ examples: [{ ops: { kind: 'slack', url: '${env:SLACK_WEBHOOK_URL}' } }] }),
    'Channels to people, by name; console always exists.',
  ),
})

/** The section `messages` of the config file. */
export const messagesConfig = defineConfig({
  description: 'How agents reach people; docs/reference/messages.md.',
  schema: section,
  toOptions: toMessages,
})

type WrittenChannel = NonNullable<z.output<typeof section>['channels']>[string]

/** References are resolved when a channel is first used. */
function toMessages({ channels = {} }: z.output<typeof section>): MessagesOptions {
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
