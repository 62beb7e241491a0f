import type { WebhookOptions } from '../../config/to-service.ts'
import type { Hub } from '../../hub.ts'
import { checkWebhooks } from './check-webhooks.ts'
import { Courier, type CourierOptions } from './courier.ts'

/** What sending needs to know. */
export interface WebhooksOptions extends Omit<CourierOptions, 'hook' | 'fetch'> {
  readonly hub: Pick<Hub, 'connect'>
  readonly hooks: readonly WebhookOptions[]
}

const HEADERS_TIMEOUT_MS = 15_000

/** Sends what waits for a person to the owner's webhooks, each until it is taken or not needed any more. */
export function startWebhooks({ hub, hooks, ...options }: WebhooksOptions): { close(): Promise<void> } {
  checkWebhooks(hooks)
  if (hooks.length === 0) return { close: async () => {} }
  let couriers: readonly Courier[] = []
  // A source that brings no tools: it gets the guarded way out that the owner's own addresses have.
  const disconnect = hub.connect({
    name: 'webhooks',
    start(host) {
      host.hide(hooks.map(({ secret }) => secret))
      const origins = [...new Set(hooks.map(({ url }) => new URL(url).origin))]
      const fetch = host.webFetch({ origins, headersTimeoutMs: HEADERS_TIMEOUT_MS })
      // Each for itself: one that does not answer holds up no other.
      couriers = hooks.map((hook) => new Courier({ ...options, hook, fetch }))
    },
    async close() {
      await Promise.all(couriers.map((courier) => courier.close()))
    },
  })
  return { close: disconnect }
}
