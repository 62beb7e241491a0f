import type { Rate } from '../core/index.ts'
import type { Retention } from '../hub/index.ts'
import type { CheckedConfig } from './check-config.ts'
import type { WrittenService } from './service-schema.ts'
import { parseDuration, parseRate, parseSize } from './units.ts'
import { withoutUndefined } from './without-undefined.ts'

/** Who signs the tokens of people, and what they may. */
export interface OidcOptions {
  /** Who signs the tokens, as their `iss` says. */
  readonly issuer: string
  /** This service, as their `aud` says. */
  readonly audience: string
  /** Where the issuer's keys are. Default: found through the issuer. */
  readonly jwks?: string
  /** The claim that lists what somebody may: call, approve, read, admin. Default: `scope`. */
  readonly scopesClaim?: string
  /** What values of that claim mean here, where they are other words. */
  readonly scopes?: Readonly<Record<string, readonly ('call' | 'approve' | 'read' | 'admin')[]>>
}

/** Where to send what waits for a person. */
export interface WebhookOptions {
  /** Where to send what waits for a person. */
  readonly url: string
  /** Signs what is sent. */
  readonly secret: string
  /** What to send. Default: both. */
  readonly events?: readonly ('approval' | 'question')[]
}

/** How the log of a service is written. */
export interface LogOptions {
  /** Default: `text` on a terminal, else `json`. */
  readonly format?: 'json' | 'text' | 'none'
  /** The least that is written. Default: `info`. */
  readonly level?: 'debug' | 'info' | 'warn' | 'error'
}

/** How a service is reached; every key has a safe default. */
export interface ServiceOptions {
  /** Address to listen on. Anything but loopback needs `publicUrl`. Default: 127.0.0.1. */
  readonly host?: string
  /** Port to listen on; 0 takes any that is free. Default: 4040. */
  readonly port?: number
  /** How people reach it, e.g. through a proxy that speaks https; used in links. */
  readonly publicUrl?: string
  /** Further names it may be addressed by. Default: none. */
  readonly allowedHosts?: readonly string[]
  /** Further web pages that may call it: `https://tools.example.org`. Default: none. */
  readonly allowedOrigins?: readonly string[]
  /** Proxies that are believed whom they pass on. */
  readonly trustedProxies?: readonly string[]
  /** Sign-in of people by tokens of your identity provider. Default: none. */
  readonly oidc?: readonly OidcOptions[]
  /** Where to send what waits for a person, signed, with a link to answer it once. Default: nowhere. */
  readonly webhooks?: readonly WebhookOptions[]
  /** Requests of one principal, for tokens without a rate of their own. Default: 1,000 per second. */
  readonly rate?: Rate
  /** Connections at a time. Default: half of the files that the process may open, at most 10,000. */
  readonly maxConnections?: number
  /** How long a call waits for a person, instead of `approvals.timeoutMs`. Default: 1 hour. */
  readonly approvalTimeoutMs?: number
  /** How long calls under way may continue when it ends. Default: 10 s. */
  readonly shutdownMs?: number
  /** What `tool-hub serve` writes to stderr. */
  readonly log?: LogOptions
  /** How long runs are kept, and how much room they may take. Default: runs are kept. */
  readonly retention?: Retention
}

/** What `runs` says about how long they are kept. */
export function toRetention(runs: CheckedConfig['runs']): Retention | undefined {
  if (typeof runs !== 'object' || (runs.keep === undefined && runs.size === undefined)) return undefined
  return withoutUndefined<Retention>({
    keepMs: runs.keep === undefined ? undefined : parseDuration(runs.keep),
    maxBytes: runs.size === undefined ? undefined : parseSize(runs.size),
  })
}

/** What `service` says, in the words of `startService`. A variable that is not set signs nothing: its webhook is reported by name. */
export function toService(service: WrittenService): ServiceOptions {
  const { oidc, webhooks, rate, approvalTimeout, shutdown, log, ...rest } = service
  return withoutUndefined<ServiceOptions>({
    ...rest,
    oidc: oidc && [oidc].flat().map((each) => withoutUndefined<OidcOptions>(each)),
    webhooks: webhooks?.map(({ secret, ...hook }) =>
      withoutUndefined<WebhookOptions>({ ...hook, secret: process.env[secret] ?? '' }),
    ),
    rate: typeof rate === 'string' ? parseRate(rate) : rate,
    approvalTimeoutMs: approvalTimeout === undefined ? undefined : parseDuration(approvalTimeout),
    log: typeof log === 'string' ? { format: log } : log && withoutUndefined<LogOptions>(log),
    shutdownMs: shutdown === undefined ? undefined : parseDuration(shutdown),
  })
}
