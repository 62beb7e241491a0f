import { createHmac } from 'node:crypto'

const STANDARD_PREFIX = 'whsec_'

/** The headers of Standard Webhooks: who gets them recomputes the signature over id, time and body. Without a secret there is none. */
export function signWebhook(
  { id, body, at }: { readonly id: string; readonly body: string; readonly at: number },
  secret: string | undefined,
): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000))
  const headers = { 'content-type': 'application/json', 'webhook-id': id, 'webhook-timestamp': timestamp }
  if (secret === undefined) return headers
  const signature = createHmac('sha256', webhookKey(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { ...headers, 'webhook-signature': `v1,${signature}` }
}

/** The key of a secret: `whsec_` says that the rest is base64, as the standard's libraries write it. */
export function webhookKey(secret: string): Buffer {
  if (!secret.startsWith(STANDARD_PREFIX)) return Buffer.from(secret)
  return Buffer.from(secret.slice(STANDARD_PREFIX.length), 'base64')
}
