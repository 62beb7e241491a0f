import { z } from 'zod'

const channel = z.strictObject({
  name: z.string(),
  kind: z.string(),
  description: z.string(),
  can: z.array(z.enum(['send', 'edit', 'react', 'attach'])),
  recipients: z.string().optional().describe('Whom a message may name.'),
  maxChars: z.int().optional(),
  problem: z.string().optional().describe('What keeps it from working.'),
})

const request = z.strictObject({
  type: z.enum(['http', 'mail', 'inbox', 'other']),
  method: z.string().optional(),
  url: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  body: z.string().optional(),
  from: z.string().optional(),
  to: z.array(z.string()).optional(),
  mime: z.string().optional().describe('The whole mail.'),
})

/** What the tool gives back. */
export const messageResult = z.strictObject({
  action: z.enum(['send', 'edit', 'react', 'channels']),
  channel: z.string().optional(),
  kind: z.string().optional(),
  targets: z.array(z.string()).optional().describe('As policy knows them.'),
  isDryRun: z.boolean().optional(),
  messageId: z.string().optional().describe('To edit it, or to react to it.'),
  rejected: z.array(z.string()).optional().describe('Recipients that were refused.'),
  request: request.optional().describe('Of a dry run: what would have gone out.'),
  channels: z.array(channel).optional(),
})

type MessageResult = z.infer<typeof messageResult>

/** What a model reads of it. */
export function showMessage({
  action,
  channel,
  targets,
  messageId,
  rejected,
  request,
  channels,
}: MessageResult): string {
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
