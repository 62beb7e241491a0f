import type { WebhookOptions } from '../../config/to-service.ts'
import { ToolError } from '../../errors.ts'
import { webhookKey } from '../../value/sign-webhook.ts'

const SHORTEST_KEY = 24

/** Refuses webhooks whose secret can be guessed, and two that are one: for whoever starts a service, before it listens. */
export function checkWebhooks(hooks: readonly WebhookOptions[]): void {
  const urls = new Set<string>()
  for (const { url, secret } of hooks) {
    const { origin } = new URL(url)
    const { length } = webhookKey(secret)
    if (length < SHORTEST_KEY) {
      throw new ToolError('CONFIG_INVALID', `The secret of the webhook ${origin} has ${length} characters.`, {
        hint: `Set its variable to at least ${SHORTEST_KEY} random characters: openssl rand -hex 32.`,
      })
    }
    if (urls.has(url)) {
      throw new ToolError('CONFIG_INVALID', `Two webhooks go to the same URL of ${origin}.`, {
        hint: 'Write it once, with the events of both.',
      })
    }
    urls.add(url)
  }
}
