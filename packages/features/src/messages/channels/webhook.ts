import { ToolError } from '@tool-hub/core'
import { signWebhook, webhookKey } from '@tool-hub/core/lib'
import type { Channel, OutgoingMessage, WebhookChannelOptions } from '../channel.ts'
import { refusedBy } from '../send-errors.ts'
import { type ChannelContext, readUrl, secretsOfUrl } from './channel-settings.ts'

const MIN_KEY_LENGTH = 24

/** A URL that receives each message as JSON, signed according to Standard Webhooks. */
export function openWebhook(
  options: WebhookChannelOptions,
  { name, references, redact, host }: ChannelContext,
): Channel {
  const text = references.read('url', options.url)
  const url = readUrl(name, text, { isSecret: false })
  // A URL that comes from a reference is a secret.
  if (text !== options.url) host.hide(secretsOfUrl(url))
  const secret = references.readSecret('secret', options.secret)
  const { length } = webhookKey(secret)
  if (length < MIN_KEY_LENGTH) {
    throw new ToolError('CONFIG_INVALID', `The secret of the channel ${name} has ${length} characters.`, {
      hint: `Use at least ${MIN_KEY_LENGTH} random characters: openssl rand -hex 32.`,
    })
  }
  return {
    kind: 'webhook',
    describe: () => `a program at ${url.host}`,
    origins: [url.origin],
    limits: { maxChars: 100_000, maxAttachments: 10 },
    canRehearse: true,
    // The id is the same for every attempt.
    isIdempotent: true,
    async send(message, io) {
      const body = JSON.stringify({ type: 'message', id: io.callId, ...bodyOf(message), from: fromOf(io) })
      const signed = signWebhook({ id: io.callId, body, at: io.now() }, secret)
      const headers = { ...signed, 'idempotency-key': io.callId }
      const answer = await io.fetch(url.href, { method: 'POST', headers, body })
      if (answer.status >= 300) throw refusedBy(answer, { channel: name, redact })
      return { id: io.callId }
    },
  }
}

function bodyOf({ title, text, level, attachments }: OutgoingMessage) {
  return {
    ...(title !== undefined && { title }),
    text,
    level,
    attachments: attachments.map(({ name, mediaType, content }) => ({
      name,
      mediaType,
      bytes: content.byteLength,
      base64: Buffer.from(content).toString('base64'),
    })),
  }
}

function fromOf({ caller, run, isTainted }: { caller: string; run: string; isTainted: boolean }) {
  return { caller, run, isUntrusted: isTainted }
}
