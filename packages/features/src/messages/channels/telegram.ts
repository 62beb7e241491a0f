import { ToolError } from '@tool-hub/core'
import { parseJson } from '@tool-hub/core/lib'
import { z } from 'zod'
import type { Channel, ChannelIo, Delivery, OutgoingMessage, TelegramChannelOptions } from '../channel.ts'
import { assertFits } from '../message-content.ts'
import { normaliseRecipient } from '../recipients.ts'
import { refusedBy } from '../send-errors.ts'
import { type ChannelContext, readUrl } from './channel-settings.ts'
import { multipart } from './multipart.ts'

const MAX_CHARS = 4_096
const MAX_CAPTION_CHARS = 1_024
const API_URL = 'https://api.telegram.org'
const TOKEN = /^\d{1,20}:[A-Za-z0-9_-]{10,100}$/
const CHAT = /^(?:-?\d{1,20}|@[a-z0-9_]{4,32})$/
const ID = /^\d{1,20}$/
const answerSchema = z.object({
  ok: z.boolean(),
  result: z.unknown().optional(),
  error_code: z.int().optional(),
  description: z.string().optional(),
  parameters: z.object({ retry_after: z.number().min(0).optional() }).optional(),
})
const sentSchema = z.object({ message_id: z.int().min(0) })

/** A bot of Telegram, which writes to the chats that the owner names. */
export function openTelegram(options: TelegramChannelOptions, parts: ChannelContext): Channel {
  const { name, references } = parts
  const api = readUrl(name, references.read('apiUrl', options.apiUrl ?? API_URL), { isSecret: true })
  const base = `${api.href.replace(/\/+$/, '')}/bot${readToken(options, parts)}`
  const chats = options.chats.map((chat) => normaliseRecipient(references.read('chats', String(chat))))
  checkChats(chats, name)
  const ask = async (method: string, body: Body, io: ChannelIo): Promise<Delivery> => {
    const shownUrl = `${api.href.replace(/\/+$/, '')}/bot…/${method}`
    const answer = await io.fetch(`${base}/${method}`, { method: 'POST', shownUrl, ...body })
    const { success, data } = answerSchema.safeParse(parseJson(answer.text))
    if (answer.status < 300 && success && data.ok) return readSent(data.result)
    throw refusedBy(answer, {
      channel: name,
      redact: parts.redact,
      ...(data?.description !== undefined && { words: data.description }),
      ...(data?.error_code !== undefined && { status: data.error_code }),
      ...(data?.parameters?.retry_after !== undefined && { retryAfterSeconds: data.parameters.retry_after }),
    })
  }
  return {
    kind: 'telegram',
    describe: () => `${chats.length} chats of a Telegram bot`,
    origins: [api.origin],
    recipients: {
      most: 1,
      usual: chats.slice(0, 1),
      admits: (chat) => chats.includes(chat),
      hint: chats.join(', '),
    },
    limits: { maxChars: MAX_CHARS, maxAttachments: 1 },
    canRehearse: true,
    send: (message, io) =>
      message.attachments.length > 0 ? sendFile(message, name, io, ask) : sendText(message, io, ask),
    edit: async (id, message, io) =>
      ask('editMessageText', json({ chat_id: message.to[0], message_id: readId(id), text: textOf(message) }), io),
    async react(id, emoji, io, to) {
      const reaction = [{ type: 'emoji', emoji }]
      await ask('setMessageReaction', json({ chat_id: to[0], message_id: readId(id), reaction }), io)
    },
  }
}

interface Body {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
  readonly shownBody?: string
}

type Ask = (method: string, body: Body, io: ChannelIo) => Promise<Delivery>

function sendText(message: OutgoingMessage, io: ChannelIo, ask: Ask): Promise<Delivery> {
  // Without a parse_mode, nothing in the text is markup.
  return ask('sendMessage', json({ chat_id: message.to[0], text: textOf(message) }), io)
}

function sendFile(message: OutgoingMessage, channel: string, io: ChannelIo, ask: Ask): Promise<Delivery> {
  const caption = textOf(message)
  assertFits(caption, MAX_CAPTION_CHARS, 'text beside an attachment', channel)
  const files = new Map([['document', message.attachments[0]!]])
  const { contentType, body, shown } = multipart({ chat_id: message.to[0]!, caption }, files)
  return ask('sendDocument', { headers: { 'content-type': contentType }, body, shownBody: shown }, io)
}

function textOf({ title, text }: OutgoingMessage): string {
  return title === undefined ? text : `${title}\n${text}`
}

function json(value: object): Body {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) }
}

function readSent(result: unknown): Delivery {
  const { success, data } = sentSchema.safeParse(result)
  return success ? { id: String(data.message_id) } : {}
}

function readToken({ token }: TelegramChannelOptions, { name, references }: ChannelContext): string {
  const value = references.readSecret('token', token)
  if (TOKEN.test(value)) return value
  throw new ToolError('CONFIG_INVALID', `The token of the channel ${name} is not one of a Telegram bot.`, {
    hint: 'Use the token from BotFather: digits, a colon, letters.',
  })
}

function checkChats(chats: readonly string[], name: string): void {
  const odd = chats.find((chat) => !CHAT.test(chat))
  if (chats.length > 0 && odd === undefined) return
  const what = odd === undefined ? 'names no chat' : `has the chat ${JSON.stringify(odd.slice(0, 50))}`
  throw new ToolError('CONFIG_INVALID', `The channel ${name} ${what}.`, {
    hint: 'Name chats by their number, -1001234567890, or as @name.',
  })
}

function readId(id: string): number {
  if (ID.test(id) && Number.isSafeInteger(Number(id))) return Number(id)
  const message = `${JSON.stringify(id.slice(0, 50))} is not the id of a Telegram message.`
  throw new ToolError('INPUT_SCHEMA_INVALID', message, { hint: 'Use the messageId that send returned.' })
}
