import {
  type ConfigDocument,
  configError,
  type KeyPath,
  messageOf,
  type Rate,
  sortedLabels,
  ToolError,
} from '@tool-hub/core'
import {
  duration,
  fillReferences,
  key,
  parseDuration,
  parseRate,
  parseSize,
  rate,
  text,
  withoutUndefined,
} from '@tool-hub/core/config'
import type { Retention } from '@tool-hub/runtime/hub'
import { z } from 'zod'
import type { CheckedConfig } from './check-config.ts'

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

/** `cluster`: how the other processes of a hub on many machines reach this one. */
export const clusterSchema = z.strictObject({
  listen: key(
    text,
    'Address and port to listen on for other processes, which sign their requests: 10.0.0.7:4041. Anything but loopback needs address. Default: any free port of loopback.',
  ),
  address: key(
    text,
    'URL at which other processes reach it, without a path: http://10.0.0.7:4041. Default: where it listens. Both may contain ${env:NAME}: http://${env:HOSTNAME}:4041.',
  ),
})

/** The section `cluster` with its references filled in, so that all machines can have the same file. */
export async function toCluster(
  document: ConfigDocument,
  written: z.output<typeof clusterSchema>,
): Promise<ClusterOptions> {
  const fill = await prepareFill(document)
  const [listen, address] = (['listen', 'address'] as const).map((name) => {
    const text = written[name]
    return text && fill(text, ['cluster', name])
  })
  if (address !== undefined && !(URL.canParse(address) && /^https?:$/.test(new URL(address).protocol))) {
    const message = `must be a URL such as http://10.0.0.7:4041, not ${JSON.stringify(address)}.`
    throw problemAt(document, ['cluster', 'address'], { message })
  }
  return withoutUndefined<ClusterOptions>({ listen, address })
}

/** Returns a function that fills in `${env:NAME}` in the text at a path of the config. Its errors name the path. */
async function prepareFill(document: ConfigDocument) {
  return (text: string, path: KeyPath) => {
    const where = path.filter((part) => typeof part === 'string').join('.')
    try {
      return fillReferences(text, { env: process.env, secret: () => undefined }, where)
    } catch (error) {
      throw problemAt(document, path, {
        message: messageOf(error),
        hint: ToolError.is(error) ? error.fix.hint : undefined,
      })
    }
  }
}

function problemAt(document: ConfigDocument, path: KeyPath, problem: { message: string; hint?: string | undefined }) {
  const { message, hint } = problem
  return configError(document.label, [{ path, message, position: document.locate(path) }], { hint })
}

const logFormat = z.enum(['json', 'text', 'none'])
const logSchema = z.union([
  logFormat,
  z.strictObject({
    format: key(logFormat, 'JSON lines, text for people, or nothing. Default: text on a terminal, else json.'),
    level: key(
      z.enum(['debug', 'info', 'warn', 'error']),
      'Lowest level that is logged; debug logs every call.',
      'info',
    ),
  }),
])

/** `service`: how `tool-hub serve` is reached. */
export const serviceSchema = z.strictObject({
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

/** The section as it was written, checked. */
export type WrittenService = z.output<typeof serviceSchema>

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

/** How the processes of a cluster reach this one. */
export interface ClusterOptions {
  /** Address and port to listen on for other processes: `10.0.0.7:4041`. Default: any free port of loopback. */
  readonly listen?: string
  /** URL at which other processes reach it. Default: where it listens, if that is loopback. */
  readonly address?: string
}

/** How the log of a service is written. */
export interface LogOptions {
  /** Default: `text` on a terminal, else `json`. */
  readonly format?: 'json' | 'text' | 'none'
  /** Lowest level that is logged. Default: `info`. */
  readonly level?: 'debug' | 'info' | 'warn' | 'error'
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

/** `worker`: which calls of other processes `tool-hub worker` executes. */
export const workerSchema = z.strictObject({
  labels: key(
    z
      .array(text)
      .refine(
        (labels) => sortedLabels(labels) !== undefined,
        'use at most 8 labels of lower-case letters, digits and -.',
      ),
    'Labels of the worker: it executes calls whose tool or rule names some of them, or none.',
    [],
  ),
  concurrency: key(z.int().min(1).max(1_000), 'How many calls it executes concurrently.', 4),
  drain: key(duration, 'How long running calls may continue after SIGTERM; then they are stopped.', '30s'),
  metrics: key(
    text,
    'Address and port at which its metrics can be read, without a token: 127.0.0.1:9464. Default: nowhere.',
  ),
  log: key(logSchema, 'What the worker logs to stderr: start, end and problems. See docs/reference/service.md.'),
})

/** Options of a worker. */
export interface WorkerSection {
  /** Its labels. Default: none. */
  readonly labels?: readonly string[]
  /** How many calls it executes concurrently. Default: 4. */
  readonly concurrency?: number
  /** How long running calls may continue after SIGTERM. Default: 30 s. */
  readonly drainMs?: number
  /** Address and port at which its metrics can be read. Default: nowhere. */
  readonly metrics?: string
  /** What `tool-hub worker` writes to stderr. */
  readonly log?: LogOptions
}

/** The section `worker` as options of `startWorker`. */
export function toWorker({ drain, log, ...rest }: z.output<typeof workerSchema>): WorkerSection {
  return withoutUndefined<WorkerSection>({
    ...rest,
    drainMs: drain === undefined ? undefined : parseDuration(drain),
    log: toLog(log),
  })
}

function toLog(log: z.output<typeof logSchema> | undefined): LogOptions | undefined {
  return typeof log === 'string' ? { format: log } : log && withoutUndefined<LogOptions>(log)
}

/** The retention that `runs` sets; `undefined` if it sets none. */
export function toRetention(runs: CheckedConfig['runs']): Retention | undefined {
  if (typeof runs !== 'object' || (runs.keep === undefined && runs.size === undefined)) return undefined
  return withoutUndefined<Retention>({
    keepMs: runs.keep === undefined ? undefined : parseDuration(runs.keep),
    maxBytes: runs.size === undefined ? undefined : parseSize(runs.size),
  })
}

/** The section `service` as options of `startService`. If the variable of a webhook is not set, the service reports that webhook by name. */
export async function toService(document: ConfigDocument, service: WrittenService): Promise<ServiceOptions> {
  const { allowedHosts, oidc, webhooks, rate, approvalTimeout, drain, shutdown, log, ...rest } = service
  const fill = allowedHosts && (await prepareFill(document))
  return withoutUndefined<ServiceOptions>({
    ...rest,
    allowedHosts: fill && allowedHosts.map((host, index) => fill(host, ['service', 'allowedHosts', index])),
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
