import {
  type ClusterOptions,
  type MachineSections,
  machineSections,
  toMachines,
  type WorkerSection,
} from '@tool-hub/cluster/config'
import type { ConfigDocument, Rate } from '@tool-hub/core'
import {
  duration,
  fillAt,
  key,
  type LogOptions,
  logSchema,
  parseDuration,
  parseRate,
  rate,
  text,
  toLog,
  withoutUndefined,
} from '@tool-hub/core/config'
import type { Retention } from '@tool-hub/runtime/hub'
import { z } from 'zod'

export type { ClusterOptions, LogOptions, WorkerSection }

const oidc = z.strictObject({
  issuer: z.url({ protocol: /^https?$/ }).describe('Issuer of the tokens, as in their iss claim.'),
  audience: text.describe('This service, as in their aud claim.'),
  jwks: key(z.url({ protocol: /^https?$/ }), "Where the issuer's keys are. Default: discovered through the issuer."),
  scopesClaim: key(text, 'The claim that lists the scopes: call, approve, read, admin.', 'scope'),
  scopes: key(
    z.record(z.string(), z.array(z.enum(['call', 'approve', 'read', 'admin']))),
    'Maps other values of that claim to scopes.',
  ),
})

const webhook = z.strictObject({
  url: z.url({ protocol: /^https?$/ }).describe('URL to which pending approvals and questions are sent.'),
  secret: text.describe('Environment variable with the key that signs each request, at least 24 characters.'),
  events: key(z.array(z.enum(['approval', 'question'])), 'What to send. Default: both.'),
})

const serviceSchema = z.strictObject({
  host: key(text, 'Address to listen on. Anything but loopback needs publicUrl.', '127.0.0.1'),
  port: key(z.int().min(0).max(65_535), 'Port to listen on; 0 picks any free port.', 4040),
  publicUrl: key(
    z.url({ protocol: /^https?$/ }),
    'URL by which people reach it, e.g. through an HTTPS proxy; used in links.',
  ),
  allowedHosts: key(
    z.array(text),
    'Further host names by which it may be addressed. May contain ${env:NAME}, e.g. for the address of a pod.',
    [],
  ),
  allowedOrigins: key(z.array(text), 'Further origins of web pages that may call it: https://tools.example.org.', []),
  trustedProxies: key(
    z.array(text),
    'Addresses or networks of proxies whose X-Forwarded-For is trusted: 10.0.0.7, 10.0.0.0/8.',
    [],
  ),
  oidc: key(z.union([oidc, z.array(oidc)]), 'Lets people sign in with tokens of your identity provider.'),
  webhooks: key(
    z.array(webhook),
    'Where to send pending approvals and questions, signed, with a link that answers once.',
  ),
  rate: key(
    rate,
    'Rate of requests of one principal whose token has no rate of its own. Default: 1000/s, in bursts of 2000.',
  ),
  maxConnections: key(
    z.int().min(1),
    'Concurrent connections, including WebSockets and event streams. Default: half of the files that the process may open, at most 10000.',
  ),
  approvalTimeout: key(
    duration,
    'How long a call waits for an approval or an answer, instead of approvals.timeout.',
    '1h',
  ),
  log: key(
    logSchema,
    'What the service logs to stderr: start, sign-ins, denials, errors, changes. See docs/reference/service.md.',
  ),
  drain: key(
    duration,
    'How long the service still answers requests after SIGTERM, with /readyz 503, so that load balancers stop using it first. Default: 5s if it listens on more than loopback or its store is in PostgreSQL, else 0s. Ctrl-C skips it.',
  ),
  shutdown: key(
    duration,
    'How long running calls may continue at shutdown, after service.drain; then they end with ABORTED.',
    '10s',
  ),
})

/** The sections that say what processes serve. */
export const serviceSections = {
  service: key(serviceSchema, 'How tool-hub serve is reached. See docs/reference/service.md.'),
  ...machineSections,
}

/** An identity provider whose tokens people sign in with. */
export interface OidcOptions {
  /** Issuer of the tokens, as in their `iss` claim. */
  readonly issuer: string
  /** This service, as in their `aud` claim. */
  readonly audience: string
  /** Where the issuer's keys are. Default: discovered through the issuer. */
  readonly jwks?: string
  /** The claim that lists the scopes: call, approve, read, admin. Default: `scope`. */
  readonly scopesClaim?: string
  /** Maps other values of that claim to scopes. */
  readonly scopes?: Readonly<Record<string, readonly ('call' | 'approve' | 'read' | 'admin')[]>>
}

/** Where to send pending approvals and questions. */
export interface WebhookOptions {
  /** Where to send pending approvals and questions. */
  readonly url: string
  /** Key that signs each request. */
  readonly secret: string
  /** What to send. Default: both. */
  readonly events?: readonly ('approval' | 'question')[]
}

/** How a service is reached; every key has a safe default. */
export interface ServiceOptions {
  /** Address to listen on. Anything but loopback needs `publicUrl`. Default: 127.0.0.1. */
  readonly host?: string
  /** Port to listen on; 0 picks any free port. Default: 4040. */
  readonly port?: number
  /** URL by which people reach it, e.g. through an HTTPS proxy; used in links. */
  readonly publicUrl?: string
  /** Further host names by which it may be addressed. Default: none. */
  readonly allowedHosts?: readonly string[]
  /** Further origins of web pages that may call it: `https://tools.example.org`. Default: none. */
  readonly allowedOrigins?: readonly string[]
  /** Proxies whose X-Forwarded-For is trusted. Default: none. */
  readonly trustedProxies?: readonly string[]
  /** Identity providers whose tokens people may sign in with. Default: none. */
  readonly oidc?: readonly OidcOptions[]
  /** Where to send pending approvals and questions, signed, with a link that answers once. Default: nowhere. */
  readonly webhooks?: readonly WebhookOptions[]
  /** Rate of requests of one principal whose token has no rate of its own. Default: 1,000 per second, in bursts of 2,000. */
  readonly rate?: Rate
  /** Concurrent connections. Default: half of the files that the process may open, at most 10,000. */
  readonly maxConnections?: number
  /** How long a call waits for an approval or an answer, instead of `approvals.timeoutMs`. Default: 1 hour. */
  readonly approvalTimeoutMs?: number
  /**
   * How long `drain` lasts. Default: 5 s if the service listens on more than loopback or shares its store with other
   * processes, else 0.
   */
  readonly drainMs?: number
  /** How long running calls may continue at shutdown; then they end with ABORTED. Default: 10 s. */
  readonly shutdownMs?: number
  /** What `tool-hub serve` writes to stderr. */
  readonly log?: LogOptions
  /** How long runs are kept, and how much room they may take. Default: runs are kept. */
  readonly retention?: Retention
  /** How other processes reach this one, if they share a store over machines. Default: on this machine only. */
  readonly cluster?: ClusterOptions
}

interface ServiceSections extends MachineSections {
  readonly service?: z.output<typeof serviceSchema> | undefined
}

/** The sections as options of `startService` and `startWorker`. */
export function toServices(
  document: ConfigDocument,
  { service = {}, ...sections }: ServiceSections,
  retention: Retention | undefined,
): { readonly service: ServiceOptions; readonly worker: WorkerSection } {
  const { cluster, worker } = toMachines(document, sections)
  return { service: withoutUndefined<ServiceOptions>({ ...toService(document, service), retention, cluster }), worker }
}

/** The section `service` as options of `startService`. If the variable of a webhook is not set, the service reports that webhook by name. */
function toService(document: ConfigDocument, service: z.output<typeof serviceSchema>): ServiceOptions {
  const { allowedHosts, oidc, webhooks, rate, approvalTimeout, drain, shutdown, log, ...rest } = service
  return withoutUndefined<ServiceOptions>({
    ...rest,
    allowedHosts: allowedHosts?.map((host, index) => fillAt(document, ['service', 'allowedHosts', index], host)),
    oidc: oidc && [oidc].flat().map((each) => withoutUndefined<OidcOptions>(each)),
    webhooks: webhooks?.map(({ secret, ...hook }) =>
      withoutUndefined<WebhookOptions>({ ...hook, secret: process.env[secret] ?? '' }),
    ),
    rate: typeof rate === 'string' ? parseRate(rate) : rate,
    approvalTimeoutMs: approvalTimeout === undefined ? undefined : parseDuration(approvalTimeout),
    log: toLog(log),
    drainMs: drain === undefined ? undefined : parseDuration(drain),
    shutdownMs: shutdown === undefined ? undefined : parseDuration(shutdown),
  })
}
