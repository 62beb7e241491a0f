import type { Client, Implementation } from '@modelcontextprotocol/client'
import {
  type HttpMcpServer,
  lazyModule,
  type McpOAuth,
  type McpServer,
  type SourceHost,
  ToolError,
  type WebFetch,
} from '../../core/index.ts'
import { VERSION } from '../../lib/index.ts'
import { carryRawTools } from './definitions.ts'
import { ProgramTransport } from './program-transport.ts'
import {
  openReferences,
  type ReferenceSources,
  type ResolvedServer,
  resolveServer,
  signsIn,
  toServerUrl,
} from './resolve-server.ts'
import type { OpenTransport } from './transport.ts'
import { findToolError, statusOf } from './upstream-error.ts'
import { openSse, openStreamable, type WebConnection } from './web-transport.ts'

const MAX_CAUSE_DEPTH = 5
/** How long a server may take to connect and list its tools. Default of `startTimeout`. */
export const START_TIMEOUT_MS = 30_000

const loadMcpClient = lazyModule(() => import('@modelcontextprotocol/client'))
const loadOauthProvider = lazyModule(() => import('./oauth/oauth-provider.ts'))
const loadOauthFetch = lazyModule(() => import('./oauth/oauth-fetch.ts'))

type Sdk = typeof import('@modelcontextprotocol/client')

/** Which protocol a server speaks: `modern` since 2026-07-28, `legacy` before. */
export type ProtocolEra = 'modern' | 'legacy'

/** What was found out about a server, so that it need not be found out again. */
export interface KnownServer {
  era?: ProtocolEra
  /** It speaks the first protocol over HTTP. */
  isSse?: boolean
  /** How it is reached. */
  fetch?: WebFetch
}

/** What a server is connected by. */
export interface McpConnectOptions {
  readonly name: string
  readonly server: McpServer
  readonly host: SourceHost
  readonly env: ReferenceSources['env']
  readonly known: KnownServer
  /** Ends the attempt. */
  readonly signal: AbortSignal
  /** Answers what the server asks a person, in the old protocol. */
  readonly prepare: (client: Client) => void
}

/** A server that answers. */
export interface Connected {
  readonly client: Client
  readonly transport: OpenTransport
  readonly era: ProtocolEra
  readonly info: Implementation | undefined
  readonly sdk: Sdk
  /** Arguments may be wanted as HTTP headers. */
  readonly hasHeaders: boolean
}

/** A server that never heard of the newest protocol may be silent about it; then the old one has the rest of the time. */
const PROBE_SHARE = 0.5
/** A call over HTTP may have no headers before it is done. */
const MAX_CALL_MS = 600_000

/** Connects to a server in the protocol that it speaks. Leaves nothing behind when it fails. */
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
  const road = await openRoad(options, resolved, sdk)
  if (resolved.isSse || known.isSse) return attempt(openSse(road), sdk, { ...options, known: { era: 'legacy' } })
  try {
    return await attempt(openStreamable(road), sdk, options)
  } catch (error) {
    if (!isRefusal(error) || options.signal.aborted) throw error
    const connected = await attempt(openSse(road), sdk, { ...options, known: { era: 'legacy' } }).catch(() => {
      throw error
    })
    known.isSse = true
    return connected
  }
}

/** Some old servers end when they are asked what they do not know: they get another start, and are not asked. */
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

async function openRoad(
  { name, server, host, env, known }: McpConnectOptions,
  { url, headers }: { readonly url: URL; readonly headers: Readonly<Record<string, string>> },
  sdk: Sdk,
): Promise<WebConnection> {
  const service = server as HttpMcpServer
  const isSigningIn = signsIn(service)
  const fetchOptions = {
    origins: [url.origin],
    // Where to sign in is the server's to say.
    publicHosts: isSigningIn,
    headersTimeoutMs: Math.max(service.timeoutMs ?? 0, MAX_CALL_MS),
  }
  known.fetch ??= host.webFetch(fetchOptions)
  const { fetch } = known
  if (!isSigningIn) return { server: name, url, headers, fetch, authProvider: undefined, sdk, clock: host.clock }
  const { openOAuth } = await loadOauthProvider()
  const { oauthFetch } = await loadOauthFetch()
  const authProvider = openOAuth({ server: name, ...resolveOAuth(name, service, host, env), host })
  return { server: name, url, headers, fetch: oauthFetch(fetch), authProvider, sdk, clock: host.clock }
}

/** A server of the first protocol does not know the method of the second. */
function isRefusal(error: unknown): boolean {
  const status = statusOf(error)
  return status === 400 || status === 404 || status === 405
}

/** What a program said explains why it did not answer. */
function withOutput(reason: unknown, transport: OpenTransport): unknown {
  const said = transport.describeOutput?.() ?? ''
  if (!ToolError.is(reason) || said === '') return reason
  const { code, message, fix, retryable } = reason
  return new ToolError(code, `${message}${said}`, { fix, retryable, cause: reason })
}

/** An error of a server at which nobody listens, with where that is; any other as it came. */
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

/** Where and how to sign in to a server, with everything filled in that its configuration refers to. */
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
