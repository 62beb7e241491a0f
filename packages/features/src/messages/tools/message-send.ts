import { actionNeeds, type Context, defineTool, ToolError } from '@tool-hub/core'
import { z } from 'zod'
import { messageTargets } from '../recipients.ts'
import type { MessageOutcome } from '../types.ts'

const channel = z.strictObject({
  name: z.string(),
  kind: z.string(),
  description: z.string(),
  can: z.array(z.enum(['send', 'edit', 'react', 'attach'])),
  recipients: z.string().optional().describe('Recipients that a message may name.'),
  maxChars: z.int().optional(),
  problem: z.string().optional().describe('Why it does not work.'),
})

const request = z.strictObject({
  type: z.enum(['http', 'mail', 'inbox', 'other']),
  method: z.string().optional(),
  url: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  body: z.string().optional(),
  from: z.string().optional(),
  to: z.array(z.string()).optional(),
  mime: z.string().optional().describe('The complete mail.'),
})

/** The result of the tool. */
const messageResult = z.strictObject({
  action: z.enum(['send', 'edit', 'react', 'channels']),
  channel: z.string().optional(),
  kind: z.string().optional(),
  targets: z.array(z.string()).optional().describe('Targets for policy.'),
  isDryRun: z.boolean().optional(),
  messageId: z.string().optional().describe('To edit it, or to react to it.'),
  rejected: z.array(z.string()).optional().describe('Recipients that were refused.'),
  request: request.optional().describe('Only in a dry run: what would have been sent.'),
  channels: z.array(channel).optional(),
})

type MessageResult = z.infer<typeof messageResult>

/** The result as text for the model. */
function showMessage({ action, channel, targets, messageId, rejected, request, channels }: MessageResult): string {
  if (channels) return channels.map(showChannel).join('\n')
  if (request) return `A dry run: nothing was sent. This would go out:\n${showRequest(request)}`
  const done = { send: 'Sent to', edit: 'Edited in', react: 'Reacted in', channels: '' }[action]
  const id = messageId === undefined ? '' : ` messageId=${messageId}`
  const refused = rejected ? `\nRefused: ${rejected.join(', ')}. The others got it.` : ''
  return `${done} ${targets?.join(', ') ?? channel}.${id}${refused}`
}

function showChannel({ name, description, can, recipients, maxChars, problem }: z.infer<typeof channel>): string {
  if (problem !== undefined) return `${name}: not ready. ${problem}`
  const to = recipients === undefined ? '' : `; to: ${recipients}`
  const most = maxChars === undefined ? '' : `; at most ${maxChars} characters`
  return `${name}: ${description}; can ${can.join(', ')}${to}${most}`
}

function showRequest({ type, method, url, headers = {}, body, from, to, mime }: z.infer<typeof request>): string {
  if (type === 'mail') return `MAIL FROM ${from} RCPT TO ${to?.join(', ')}\n\n${mime}`
  if (type !== 'http') return `${method ?? 'inbox'} ${to?.join(', ') ?? ''}\n${body ?? ''}`
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`${method} ${url}`, ...lines, '', body ?? ''].join('\n')
}

const fields = z.strictObject({
  action: z
    .enum(['send', 'edit', 'react', 'channels'])
    .default('send')
    .describe('send a message, edit or react to one that was sent, or list the channels.'),
  channel: z
    .string()
    .regex(/^[a-z][a-z0-9_-]{0,31}$/, 'the name of a channel')
    .optional()
    .describe(
      'Name of the channel; "console" reaches the people who run this hub. Required for all actions except channels.',
    ),
  to: z
    .array(z.string().trim().min(1).max(320))
    .max(20)
    .optional()
    .describe('Recipients, if the channel has some: mail addresses, a chat. Default: the usual ones of the channel.'),
  title: z.string().trim().min(1).max(200).optional().describe('One line: the subject of a mail, a heading.'),
  text: z.string().max(100_000).optional().describe('The message, as plain text. Required for send and edit.'),
  level: z
    .enum(['info', 'warning', 'error'])
    .optional()
    .describe('How urgent it is, for the console and webhooks. Default: info.'),
  attachments: z
    .array(
      z.strictObject({
        ref: z.string().max(200).describe('artifact:<sha256>, an artifact of this run.'),
        name: z.string().max(200).optional().describe('File name to show.'),
      }),
    )
    .max(10)
    .optional()
    .describe('Artifacts of this run to attach, at most 10 MB in total.'),
  messageId: z.string().min(1).max(100).optional().describe('For edit and react: the messageId that send returned.'),
  emoji: z.string().min(1).max(16).optional().describe('For react: one emoji.'),
  dryRun: z.boolean().optional().describe('Send nothing, and show exactly what would be sent.'),
})

const input = fields.superRefine(
  actionNeeds('message', {
    send: ['channel', 'text'],
    edit: ['channel', 'text', 'messageId'],
    react: ['channel', 'messageId', 'emoji'],
  }),
)

type Input = z.infer<typeof input>

/** Sends, edits and reacts to messages for people. */
export const messageSend = defineTool({
  name: 'core/message.send',
  title: 'Message people',
  description:
    'Send a message to people through a channel that the owner has set up (chat, mail, webhook), or to the inbox of ' +
    'their console. Use it to notify people, also when they are away. A message cannot be unsent; use dryRun to see ' +
    'what would be sent. If you need an answer, ask the user instead. Never send secrets.',
  input,
  output: messageResult,
  capabilities: ['message'],
  targets: ({ action, channel, to, dryRun }) =>
    action === 'channels' || dryRun || channel === undefined
      ? { message: [] }
      : { message: messageTargets(channel, to) },
  timeoutMs: 120_000,
  category: 'message',
  tags: ['message', 'notify', 'mail', 'chat'],
  version: '1.0.0',
  circuit: ({ channel }) => channel ?? 'none',
  examples: [
    { input: { channel: 'console', title: 'Backup', text: 'The backup is done.' } },
    {
      input: { channel: 'console', title: 'Report', text: 'See above.', dryRun: true },
      note: 'shows what would be sent, and sends nothing',
    },
  ],
  dialects: { coding: { name: 'message' } },
  async execute(input, ctx) {
    const { action } = input
    if (action === 'channels') {
      const channels = await ctx.messages.channels()
      ctx.evidence({ type: 'tool', ref: 'channels', summary: `${channels.length} channels` })
      return { action, channels: channels.map((channel) => ({ ...channel, can: [...channel.can] })) }
    }
    const outcome = await act(input, ctx)
    const { messageId, rejected, request, kind, channel } = outcome
    const isDryRun = request !== undefined
    const summary = isDryRun ? `would ${action} by ${kind}` : `${PAST[action]} by ${kind}`
    ctx.evidence({ type: 'tool', ref: outcome.targets.join(', '), summary })
    return {
      action,
      channel,
      kind,
      targets: [...outcome.targets],
      isDryRun,
      ...(messageId !== undefined && { messageId }),
      ...(rejected && { rejected: [...rejected] }),
      ...(request && { request: { ...request, to: request.to && [...request.to] } }),
    }
  },
  toModel: showMessage,
})

const PAST = { send: 'sent', edit: 'edited', react: 'reacted' } as const

function act(input: Input, ctx: Context<'message'>): Promise<MessageOutcome> {
  const { action, to, title, level, attachments, dryRun } = input
  const channel = needed(input, 'channel')
  if (action === 'react') {
    return ctx.messages.react(
      { channel, to, messageId: needed(input, 'messageId'), emoji: needed(input, 'emoji') },
      { dryRun },
    )
  }
  const message = { channel, to, title, text: needed(input, 'text'), level, attachments }
  if (action === 'edit') return ctx.messages.edit(needed(input, 'messageId'), message, { dryRun })
  return ctx.messages.send(message, { dryRun })
}

function needed<K extends 'channel' | 'text' | 'messageId' | 'emoji'>(input: Input, name: K): string {
  const value = input[name]
  if (value !== undefined) return value
  const hint = name === 'channel' ? 'The action channels lists them; console always exists.' : `Give ${name}.`
  throw new ToolError('INPUT_SCHEMA_INVALID', `message ${input.action} needs ${name}.`, { hint })
}
