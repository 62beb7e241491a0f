import { createHmac } from 'node:crypto'

const STANDARD_PREFIX = 'whsec_'

/** The headers of Standard Webhooks: who gets them recomputes the signature over id, time and body. */
export function signWebhook(
  message: { readonly id: string; readonly body: string; readonly at: number },
  secret: string,
): Record<string, string> {
  const timestamp = String(Math.floor(message.at / 1000))
  const signed = `${message.id}.${timestamp}.${message.body}`
  const signature = createHmac('sha256', webhookKey(secret)).update(signed).digest('base64')
  return {
    'content-type': 'application/json',
    'webhook-id': message.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  }
}

/** The key of a secret: `whsec_` says that the rest is base64, as the standard's libraries write it. */
export function webhookKey(secret: string): Buffer {
  if (!secret.startsWith(STANDARD_PREFIX)) return Buffer.from(secret)
  return Buffer.from(secret.slice(STANDARD_PREFIX.length), 'base64')
}
