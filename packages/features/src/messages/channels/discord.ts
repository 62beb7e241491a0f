import { ToolError } from '@tool-hub/core'
import { parseJson } from '@tool-hub/core/lib'
import { z } from 'zod'
import type { Channel, ChannelAnswer, ChannelIo, DiscordChannelOptions, OutgoingMessage } from '../channel.ts'
import { assertFits } from '../message-content.ts'
import { refusedBy } from '../send-errors.ts'
import { type ChannelContext, readUrl, secretsOfUrl } from './channel-settings.ts'
import { multipart } from './multipart.ts'

const MAX_CHARS = 2_000
const ID = /^\d{1,20}$/
const sentSchema = z.object({ id: z.string().regex(ID) })
const refusalSchema = z.object({ message: z.string().optional(), retry_after: z.number().min(0).optional() })

/** A webhook of Discord. */
export function openDiscord(options: DiscordChannelOptions, parts: ChannelContext): Channel {
  const { name, references, host } = parts
  const url = readUrl(name, references.readSecret('url', options.url), { isSecret: true })
  host.hide(secretsOfUrl(url))
  const send = async (method: 'POST' | 'PATCH', path: string, message: OutgoingMessage, io: ChannelIo) => {
    const target = new URL(url)
    target.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`
    target.searchParams.set('wait', 'true')
    const shownUrl = `${url.origin}/…${path}?wait=true`
    const payload = payloadOf(message, options, name, method)
    const answer = await io.fetch(target.href, { method, shownUrl, ...requestOf(payload, message) })
    return readSent(answer, parts)
  }
  return {
    kind: 'discord',
    describe: () => `a Discord channel, by a webhook of ${url.host}`,
    origins: [url.origin],
    limits: { maxChars: MAX_CHARS, maxAttachments: 10 },
    canRehearse: true,
    send: (message, io) => send('POST', '', message, io),
    edit: async (id, message, io) => {
      if (!ID.test(id)) throw notAnId(id)
      return send('PATCH', `/messages/${id}`, message, io)
    },
  }
}

function payloadOf(
  { title, text }: OutgoingMessage,
  { mentions, username }: DiscordChannelOptions,
  channel: string,
  method: 'POST' | 'PATCH',
) {
  const content = title === undefined ? text : `**${title}**\n${text}`
  assertFits(content, MAX_CHARS, 'message', channel)
  return {
    content,
    ...(username !== undefined && method === 'POST' && { username }),
    allowed_mentions: { parse: mentions ? ['users', 'roles', 'everyone'] : [] },
  }
}

function requestOf(payload: object, { attachments }: OutgoingMessage) {
  const json = JSON.stringify(payload)
  if (attachments.length === 0) return { headers: { 'content-type': 'application/json' }, body: json }
  const files = new Map(attachments.map((file, index) => [`files[${index}]`, file]))
  const { contentType, body, shown } = multipart({ payload_json: json }, files)
  return { headers: { 'content-type': contentType }, body, shownBody: shown }
}

function readSent(answer: ChannelAnswer, { name, redact }: ChannelContext) {
  const body = parseJson(answer.text)
  if (answer.status >= 300) {
    const { message, retry_after } = refusalSchema.catch({}).parse(body)
    throw refusedBy(answer, {
      channel: name,
      redact,
      ...(message !== undefined && { words: message }),
      ...(retry_after !== undefined && { retryAfterSeconds: retry_after }),
    })
  }
  // The message was accepted, even if the response has no valid id.
  const { success, data } = sentSchema.safeParse(body)
  return success ? { id: data.id } : {}
}

function notAnId(id: string): ToolError {
  const message = `${JSON.stringify(id.slice(0, 50))} is not the id of a Discord message.`
  return new ToolError('INPUT_SCHEMA_INVALID', message, { hint: 'Use the messageId that send returned.' })
}
