import type { Client, Implementation } from '@modelcontextprotocol/client'
import {
  type HttpMcpServer,
  lazyModule,
  type McpOAuth,
  type McpServer,
  type SourceHost,
  ToolError,
  type WebFetch,
} from '@tool-hub/core'
import type { ReferenceSources } from '@tool-hub/core/config'
import { VERSION } from '@tool-hub/core/lib'
import { carryRawTools } from '../definitions.ts'
import { openReferences, type ResolvedServer, resolveServer, signsIn, toServerUrl } from '../resolve-server.ts'
import { findToolError, statusOf } from '../upstream-error.ts'
import { ProgramTransport } from './program-transport.ts'
import type { OpenTransport } from './transport.ts'
import { openSse, openStreamable, type WebConnection } from './web-transport.ts'

const MAX_CAUSE_DEPTH = 5
/** How long a server may take to connect and list its tools. Default of `startTimeout`. */
export const START_TIMEOUT_MS = 30_000

const loadMcpClient = lazyModule(() => import('@modelcontextprotocol/client'))
const loadOauthProvider = lazyModule(() => import('../oauth/oauth-provider.ts'))
const loadOauthFetch = lazyModule(() => import('../oauth/oauth-fetch.ts'))
const loadRenewals = lazyModule(() => import('../oauth/renewals.ts'))

type Sdk = typeof import('@modelcontextprotocol/client')

/** Which protocol a server speaks: `modern` since 2026-07-28, `legacy` before. */
export type ProtocolEra = 'modern' | 'legacy'

/** What is already known about a server, so that it need not be probed again. */
export interface KnownServer {
  era?: ProtocolEra
  /** It only speaks HTTP with SSE, the transport of the first protocol version. */
  isSse?: boolean
  /** The guarded fetch for this server. */
  fetch?: WebFetch
}

/** Options of `connect`. */
export interface McpConnectOptions {
  readonly name: string
  readonly server: McpServer
  readonly host: SourceHost
  readonly env: ReferenceSources['env']
  readonly known: KnownServer
  /** Aborts the attempt. */
  readonly signal: AbortSignal
  /** Registers handlers for questions of the server (old protocol) before the client connects. */
  readonly prepare: (client: Client) => void
}

/** A connected server. */
export interface Connected {
  readonly client: Client
  readonly transport: OpenTransport
  readonly era: ProtocolEra
  readonly info: Implementation | undefined
  readonly sdk: Sdk
  /** Whether the server may ask for arguments as HTTP headers. */
  readonly hasHeaders: boolean
}

/**
 * Share of the start timeout for the newest protocol: a server that does not know it may not answer the probe at all.
 */
const PROBE_SHARE = 0.5
/** A call over HTTP may send no response headers before it is done. */
const MAX_CALL_MS = 600_000

/** Connects to a server in the protocol version that it speaks. Closes the transport if it fails. */
export async function connect(options: McpConnectOptions): Promise<Connected> {
  const { name, server, host, env } = options
  const resolved = resolveServer(name, server, { host, env })
  const sdk = await loadMcpClient()
  if (resolved.kind === 'program') {
    const start = async () => {
      const program = await host.startProgram(resolved.request)
      return new ProgramTransport({ server: name, program, clock: host.clock, parse: sdk.deserializeMessage })
    }
    return attemptTwice(start, sdk, options)
  }
  try {
    return await connectWeb(options, resolved, sdk)
  } catch (error) {
    throw nameServerPlace(error, resolved.url)
  }
}

async function connectWeb(
  options: McpConnectOptions,
  resolved: Extract<ResolvedServer, { kind: 'web' }>,
  sdk: Sdk,
): Promise<Connected> {
  const { known } = options
  const web = await openWeb(options, resolved, sdk)
  if (resolved.isSse || known.isSse) return attempt(openSse(web), sdk, { ...options, known: { era: 'legacy' } })
  try {
    return await attempt(openStreamable(web), sdk, options)
  } catch (error) {
    if (!isRefusal(error) || options.signal.aborted) throw error
    const connected = await attempt(openSse(web), sdk, { ...options, known: { era: 'legacy' } }).catch(() => {
      throw error
    })
    known.isSse = true
    return connected
  }
}

/** Some old servers exit when they receive a request they do not know: they are started again and not probed. */
async function attemptTwice(
  start: () => Promise<ProgramTransport>,
  sdk: Sdk,
  options: McpConnectOptions,
): Promise<Connected> {
  const { known, signal } = options
  const transport = await start()
  try {
    return await attempt(transport, sdk, options)
  } catch (error) {
    if (known.era !== undefined || !transport.reason || signal.aborted) throw error
    const connected = await attempt(await start(), sdk, { ...options, known: { era: 'legacy' } })
    known.era = connected.era
    return connected
  }
}

async function attempt(transport: OpenTransport, sdk: Sdk, options: McpConnectOptions): Promise<Connected> {
  const { server, known, signal, prepare } = options
  const timeout = server.startTimeoutMs ?? START_TIMEOUT_MS
  const client = new sdk.Client(
    { name: 'tool-hub', version: VERSION },
    {
      capabilities: { elicitation: { form: {}, url: {} } },
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: Math.round(timeout * PROBE_SHARE) } },
      inputRequired: { autoFulfill: false },
    },
  )
  prepare(client)
  const stop = () => void transport.close()
  signal.addEventListener('abort', stop)
  try {
    signal.throwIfAborted()
    const prior = known.era === 'legacy' ? ({ kind: 'legacy' } as const) : undefined
    await client.connect(transport, { timeout, signal, prior })
    carryRawTools(transport)
    const era = client.getProtocolEra() ?? 'legacy'
    known.era = era
    const hasHeaders = era === 'modern' && transport.hasPerRequestStream === true
    return { client, transport, era, info: client.getServerVersion(), sdk, hasHeaders }
  } catch (error) {
    await transport.close().catch(() => {})
    throw signal.aborted ? withOutput(signal.reason, transport) : (transport.reason ?? error)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

async function openWeb(
  { name, server, host, env, known }: McpConnectOptions,
  { url, headers }: { readonly url: URL; readonly headers: Readonly<Record<string, string>> },
  sdk: Sdk,
): Promise<WebConnection> {
  const service = server as HttpMcpServer
  const isSigningIn = signsIn(service)
  const fetchOptions = {
    origins: [url.origin],
    // The server decides where to sign in.
    publicHosts: isSigningIn,
    headersTimeoutMs: Math.max(service.timeoutMs ?? 0, MAX_CALL_MS),
  }
  known.fetch ??= host.webFetch(fetchOptions)
  const { fetch } = known
  if (!isSigningIn) return { server: name, url, headers, fetch, authProvider: undefined, sdk, clock: host.clock }
  const { openOAuth } = await loadOauthProvider()
  const { oauthFetch } = await loadOauthFetch()
  const { url: resource, oauth } = resolveOAuth(name, service, host, env)
  const authProvider = openOAuth({ server: name, url: resource, oauth, host })
  const together = (await loadRenewals()).renewTogether({ server: name, url: resource, host })
  return { server: name, url, headers, fetch: oauthFetch(fetch, together), authProvider, sdk, clock: host.clock }
}

/** A server of the first protocol version rejects the request of the newer one with one of these codes. */
function isRefusal(error: unknown): boolean {
  const status = statusOf(error)
  return status === 400 || status === 404 || status === 405
}

/** Adds the output of the program, which often explains why it did not answer. */
function withOutput(reason: unknown, transport: OpenTransport): unknown {
  const said = transport.describeOutput?.() ?? ''
  if (!ToolError.is(reason) || said === '') return reason
  const { code, message, fix, retryable } = reason
  return new ToolError(code, `${message}${said}`, { fix, retryable, cause: reason })
}

/** Adds the address to an error of a refused connection; returns every other error unchanged. */
export function nameServerPlace(thrown: unknown, { origin, pathname }: URL): unknown {
  const known = findToolError(thrown)
  if (!known || !isRefused(known)) return thrown
  return new ToolError(known.code, known.message, {
    hint: `Is the server running at ${origin}${pathname}? Correct the url in tool-hub.yaml.`,
    retryable: known.retryable,
    cause: known,
  })
}

function isRefused(thrown: unknown): boolean {
  let error = thrown
  for (let depth = 0; depth < MAX_CAUSE_DEPTH && error instanceof Error; depth++) {
    if ('code' in error && error.code === 'ECONNREFUSED') return true
    error = error.cause
  }
  return false
}

/** Where and how to sign in to a server, with all references in its configuration resolved. */
export function resolveOAuth(
  name: string,
  { url, oauth }: HttpMcpServer,
  host: Pick<SourceHost, 'secret' | 'hide'>,
  env: ReferenceSources['env'] = process.env,
): { readonly url: string; readonly oauth: McpOAuth | undefined } {
  const { fill } = openReferences(name, { host, env })
  const { href } = toServerUrl(name, fill(url, 'url'))
  if (!oauth) return { url: href, oauth: undefined }
  const { clientId, clientSecret, ...others } = oauth
  const secret = clientSecret === undefined ? undefined : fill(clientSecret, 'oauth.clientSecret')
  if (secret) host.hide([secret])
  return {
    url: href,
    oauth: {
      ...others,
      clientId: clientId === undefined ? undefined : fill(clientId, 'oauth.clientId'),
      clientSecret: secret,
    },
  }
}
