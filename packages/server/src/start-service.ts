import { fileURLToPath } from 'node:url'
import type { OidcOptions, ServiceOptions } from '@tool-hub/config'
import {
  type Clock,
  type FeatureDefinition,
  type HubOptions,
  loadLazyModules,
  messageOf,
  systemClock,
  type WebFetch,
} from '@tool-hub/core'
import { VERSION } from '@tool-hub/core/lib'
import type { ConfigState } from '@tool-hub/core/protocol'
import { features } from '@tool-hub/library/generated/list'
import { type Hub, secretsOf } from '@tool-hub/runtime/hub'
import { createRedactor } from '@tool-hub/runtime/records/redaction'
import { builtFile, connectionLimit, isLoopback } from '@tool-hub/sandbox/system'
import { createAnswerPages } from './approvals/answer-links.ts'
import { checkWebhooks, startWebhooks } from './approvals/webhooks.ts'
import { assembleService } from './assemble-service.ts'
import { fromIncomingMessage } from './auth/auth-request.ts'
import { Authenticator } from './auth/authenticator.ts'
import { createJwtVerifier, type JwtVerifier } from './auth/jwt-verifier.ts'
import { createSignInSessions } from './auth/sign-in-sessions.ts'
import { startRecovering, startRetention, startSweeping } from './background-work.ts'
import { createHttpApp } from './http/create-http-app.ts'
import { listenHttp } from './http/listen-http.ts'
import { ProtectedResource } from './http/mcp-endpoints.ts'
import { joinService } from './machines.ts'
import { createLog, createRecordLog, type LogEntry } from './service-log.ts'
import { createWebSocketEndpoint } from './websocket/endpoint.ts'

/** A running service. */
export interface RunningService {
  /** `http://127.0.0.1:4040`. */
  readonly url: string
  /** Signs the owner in while the process runs. */
  readonly token: string
  /** The hub that is served, for the owner's own calls. */
  readonly hub: Hub
  /** Reads the config file and applies its rules; the state says why a file is refused. `undefined` without a file. */
  reload(): Promise<ConfigState | undefined>
  /**
   * Prepares the end of the service behind a load balancer: `/readyz` is 503 from now on, and all other requests are
   * still answered. Resolves after `drainMs`; then call `close`.
   */
  drain(): Promise<void>
  /**
   * Stops accepting requests, lets calls in progress end for `shutdownMs` and then stops them, ends pending approvals and
   * flushes everything.
   */
  close(): Promise<void>
}

/** Options of `startService` in addition to those of the config file. */
export interface StartServiceOptions extends ServiceOptions {
  /**
   * Absolute path of the config file that the options come from: the console saves rules there, and edits are applied.
   */
  readonly configFile?: string
  /** Called with every entry of the log: start, sign-ins, denials, errors, changes. */
  readonly onLog?: (entry: LogEntry) => void
  /** Called with problems that belong to no call. */
  readonly onProblem?: (message: string) => void
  /** The source of time, for tests. Default: the machine's clock. */
  readonly clock?: Clock
}

/** The default port of the service. */
export const DEFAULT_PORT = 4040
const SHUTDOWN_MS = 10_000
/** A load balancer that asks every second or two has noticed by then. */
const DRAIN_MS = 5_000
/** How long stopped calls may take to end and to be answered. */
const ANSWER_MS = 3_000

/**
 * Starts the service: hub, store, index and transports. Default address: loopback.
 * @example
 * const service = await startService({ sandbox: { root: '.' } }, { port: 0 })
 * console.log(service.url, service.token)
 */
export async function startService(hubOptions: HubOptions, options: StartServiceOptions = {}): Promise<RunningService> {
  const { clock = systemClock, shutdownMs = SHUTDOWN_MS } = options
  const graceMs = shutdownMs + ANSWER_MS
  const redact = createRedactor(secretsOf(hubOptions)).text
  const log = createLog({ clock, redact, write: options.onLog })
  const onProblem = (message: string, event = 'problem') => {
    log(event === 'config-restart' ? 'warn' : 'error', event, message)
    options.onProblem?.(message)
  }
  const { configFile, approvalTimeoutMs, webhooks: hooks = [] } = options
  checkWebhooks(hooks)
  const maxConnections = connectionLimit(options.maxConnections)
  // Node caches a failed import: a call that comes while descriptors are exhausted must not need one.
  await loadLazyModules()
  let dismiss: (token: string) => void = () => {}
  const onRevoked = (id: string) => dismiss(id)
  const own = { clock, configFile, approvalTimeoutMs, onProblem, onRevoked }
  const assembled = await assembleService(hubOptions, own)
  const { service, tokens, events } = assembled
  const { hub, store, group } = service
  hub.onRecord(createRecordLog(log))
  const { oidc: issuers = [] } = options
  const jwt = openJwtVerifier(hub, issuers, { clock, publicUrl: options.publicUrl })
  const names = namesOf(options)
  const authenticator = new Authenticator({
    tokens,
    sessions: createSignInSessions({ store, tokens, jwt, clock }),
    jwt,
    ...(options.rate && { limits: { rate: options.rate } }),
    trustedProxies: options.trustedProxies,
    log,
    ...names,
    clock,
  })
  const parts = { store, authenticator, events, clock, log }
  const joined = await joinService(hub, options, parts).catch(async (error) => {
    await assembled.close()
    throw error
  })
  if (joined) assembled.addMetrics(() => joined.metrics())
  const app = await createHttpApp({
    service,
    router: joined?.router,
    authenticator,
    answers: createAnswerPages({ hub, store, clock, hooks }),
    ...(issuers.length > 0 && { resource: new ProtectedResource(issuers, () => options.publicUrl ?? server.url) }),
    consoleFolder: fileURLToPath(builtFile('console')),
    ...names,
    onError: (error) => onProblem(`The service failed: ${error instanceof Error ? error.stack : error}`),
    clock,
  })
  assembled.addMetrics(() => authenticator.metrics() + app.requests.text())
  const ws = createWebSocketEndpoint({
    service,
    authenticate: (request) => authenticator.authenticate(fromIncomingMessage(request)),
    clock,
    limits: { messageEntries: service.hub.maxInputEntries },
    router: joined?.router,
  })
  dismiss = (id) => {
    ws.dismiss(({ token }) => token === id)
    app.dismiss(id)
  }
  const server = await listenHttp(app, {
    host: options.host,
    port: options.port ?? DEFAULT_PORT,
    allowPlain: options.publicUrl !== undefined,
    graceMs,
    maxConnections,
    onUpgrade: (request, socket, head) => ws.upgrade(request, socket, head),
  }).catch(async (error) => {
    await assembled.close()
    throw error
  })
  await joined?.listen(app, ws).catch(async (error) => {
    await Promise.all([server.close(), joined.router.close()])
    await assembled.close()
    throw error
  })
  const publicUrl = () => options.publicUrl ?? server.url
  const webhooks = startWebhooks({ hub, store, clock, hooks, publicUrl, onProblem })
  const starting = features.map(({ inService }: FeatureDefinition) => {
    const { start } = inService ?? {}
    return start?.run(hub, hubOptions).catch((error) => onProblem(`${start.problem}: ${messageOf(error)}`))
  })
  const stopSweeping = startSweeping(service, { clock, onProblem })
  const stopRecovering = startRecovering(service, clock)
  const stopPruning = startRetention(service, {
    retention: options.retention,
    runsFolder: assembled.runsFolder,
    clock,
    onProblem,
  })
  log('info', 'service-started', `tool-hub ${VERSION} listens at ${server.url}.`, {
    version: VERSION,
    pid: process.pid,
  })
  const isBalanced = group.hasOthers || !isLoopback(options.host ?? 'localhost')
  const { drainMs = isBalanced ? DRAIN_MS : 0 } = options
  let closing: Promise<void> | undefined
  let draining: Promise<void> | undefined
  let endDrain = () => {}
  const drain = async () => {
    if (drainMs === 0 || closing) return
    log('info', 'service-draining', `The service ends in ${drainMs / 1_000} s; until then it answers requests.`)
    app.drain()
    group.publishDraining()
    await new Promise<void>((resolve) => {
      endDrain = resolve
      clock.after(drainMs, resolve)
    })
  }
  const close = async () => {
    endDrain()
    log('info', 'service-stopping', 'The service ends; calls under way may finish.')
    stopSweeping()
    stopRecovering()
    await stopPruning()
    // Clients that wait for a person get a hint to retry while their connections are still open.
    assembled.drain()
    group.publishDraining()
    // Their callers get an answer: connections are cut after that.
    const stopping = setTimeout(() => assembled.stopCalls(), shutdownMs)
    await Promise.all([server.close(), ws.close({ graceMs }), joined?.router.stopListening({ graceMs })])
    clearTimeout(stopping)
    await joined?.router.close()
    await webhooks.close()
    await Promise.all(starting)
    await assembled.close()
    log('info', 'service-stopped', 'The service has ended.')
  }
  return {
    url: server.url,
    token: tokens.createOwnerToken(),
    hub,
    async reload() {
      const state = await assembled.reload()
      if (state && state.problem === undefined) log('info', 'config-read', `${state.file} was read again.`)
      return state
    },
    drain() {
      draining ??= drain()
      return draining
    },
    close() {
      closing ??= close()
      return closing
    },
  }
}

/** The host names of the service, and the origins whose pages may call it. */
function namesOf({ publicUrl, allowedHosts = [], allowedOrigins = [] }: ServiceOptions) {
  const own = publicUrl === undefined ? [] : [new URL(publicUrl)]
  return {
    allowedHosts: [...allowedHosts, ...own.map(({ hostname }) => hostname)],
    allowedOrigins: [...allowedOrigins, ...own.map(({ origin }) => origin)],
  }
}

/**
 * Verifies tokens of the owner's identity providers; their keys are fetched through the guarded network access of the
 * hub.
 */
function openJwtVerifier(
  hub: Hub,
  issuers: readonly OidcOptions[],
  { clock, publicUrl }: { readonly clock: Clock; readonly publicUrl?: string },
): JwtVerifier | undefined {
  if (issuers.length === 0) return undefined
  const origins = issuers.flatMap(({ issuer, jwks = issuer }) => [new URL(issuer).origin, new URL(jwks).origin])
  let fetch: WebFetch | undefined
  // A source without tools; providers may host their keys elsewhere.
  hub.connect({
    name: 'identity providers',
    start: (host) => {
      fetch = host.webFetch({ origins: [...new Set(origins)], publicHosts: true })
    },
  })
  return createJwtVerifier({
    issuers: issuers.map(({ jwks, scopes, audience, ...issuer }) => ({
      ...issuer,
      // An MCP client requests a token for the resource itself, by its URL (RFC 8707).
      audience: publicUrl === undefined ? audience : [audience, `${publicUrl.replace(/\/+$/, '')}/mcp`],
      ...(jwks !== undefined && { jwksUri: jwks }),
      ...(scopes && { map: Object.fromEntries(Object.entries(scopes).map(([word, meant]) => [word, [...meant]])) }),
    })),
    fetch: async (url, init) => {
      await hub.ready()
      return fetch!(url, init)
    },
    hub,
    clock,
  })
}
