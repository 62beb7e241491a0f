import type { Rate } from '../options.ts'
import type { WrittenService } from './service-schema.ts'
import { parseDuration, parseRate } from './units.ts'
import { withoutUndefined } from './without-undefined.ts'

/** Who signs the tokens of people, and what they may. */
export interface OidcOptions {
  readonly issuer: string
  readonly audience: string
  readonly jwks?: string
  readonly scopesClaim?: string
  readonly scopes?: Readonly<Record<string, readonly ('call' | 'approve' | 'read' | 'admin')[]>>
}

/** Where to send what waits for a person. */
export interface WebhookOptions {
  readonly url: string
  /** Signs what is sent. */
  readonly secret: string
  readonly events?: readonly ('approval' | 'question')[]
}

/** How a service is reached; every key has a safe default. */
export interface ServiceOptions {
  readonly host?: string
  readonly port?: number
  readonly publicUrl?: string
  readonly allowedHosts?: readonly string[]
  readonly allowedOrigins?: readonly string[]
  /** Proxies that are believed whom they pass on. */
  readonly trustedProxies?: readonly string[]
  readonly oidc?: readonly OidcOptions[]
  readonly webhooks?: readonly WebhookOptions[]
  readonly rate?: Rate
  /** Connections at a time. Default: half of the files that the process may open, at most 10,000. */
  readonly maxConnections?: number
  readonly approvalTimeoutMs?: number
  readonly shutdownMs?: number
}

/** What `service` says, in the words of `startService`. A variable that is not set signs nothing: its webhook is told by name. */
export function toService(service: WrittenService): ServiceOptions {
  const { oidc, webhooks, rate, approvalTimeout, shutdown, ...rest } = service
  return withoutUndefined<ServiceOptions>({
    ...rest,
    oidc: oidc && [oidc].flat().map((each) => withoutUndefined<OidcOptions>(each)),
    webhooks: webhooks?.map(({ secret, ...hook }) =>
      withoutUndefined<WebhookOptions>({ ...hook, secret: process.env[secret] ?? '' }),
    ),
    rate: typeof rate === 'string' ? parseRate(rate) : rate,
    approvalTimeoutMs: approvalTimeout === undefined ? undefined : parseDuration(approvalTimeout),
    shutdownMs: shutdown === undefined ? undefined : parseDuration(shutdown),
  })
}
