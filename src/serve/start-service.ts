import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Clock, systemClock } from '../clock.ts'
import type { ServiceOptions } from '../config/to-service.ts'
import { createToolHub } from '../create-tool-hub.ts'
import { messageOf, ToolError } from '../errors.ts'
import { RunIndexer } from '../hub/run-index/run-indexer.ts'
import { secretsOf } from '../hub/secrets-of.ts'
import type { Hub } from '../hub.ts'
import type { HubOptions, Sandbox } from '../options.ts'
import { builtFile } from '../own-file.ts'
import { createRedactor } from '../record/redact.ts'
import { createMcpSource } from '../sources/mcp/mcp-source.ts'
import { openStore } from '../store/sqlite/open-store.ts'
import { VERSION } from '../version.ts'
import { checkWebhooks } from './asks/check-webhooks.ts'
import { createAnswerDoor } from './asks/create-answer-door.ts'
import { createAskDesk } from './asks/create-ask-desk.ts'
import { startWebhooks } from './asks/start-webhooks.ts'
import { createDoorkeeper } from './auth/create-doorkeeper.ts'
import { createSessionDesk } from './auth/create-session-desk.ts'
import { createTokenDesk } from './auth/create-token-desk.ts'
import { fromIncomingMessage } from './auth/door-request.ts'
import { createCallBook } from './book/create-call-book.ts'
import { createEventFeed } from './book/create-event-feed.ts'
import { createPolicyDesk } from './book/create-policy-desk.ts'
import { describeHealth } from './book/describe-health.ts'
import { createHttpApp } from './http/create-http-app.ts'
import { listenHttp } from './http/listen-http.ts'
import { openJwtVerifier } from './open-jwt-verifier.ts'
import type { Service } from './service.ts'
import { createWsDoor } from './ws/create-ws-door.ts'

/** A service that takes calls. */
export interface RunningService {
  /** `http://127.0.0.1:4040`. */
  readonly url: string
  /** Signs the owner in, as long as the process lives. */
  readonly token: string
  readonly hub: Hub
  /** Takes no more, lets calls under way end, ends what waits in good order, flushes everything. */
  close(): Promise<void>
}

/** What the one who starts it may say beside. */
export interface StartServiceOptions extends ServiceOptions {
  /** The config that the options come from, absolute: the console saves rules there. */
  readonly configFile?: string
  /** Hears what no caller is there to be told. */
  readonly onProblem?: (message: string) => void
  readonly clock?: Clock
}

const PORT = 4040
const APPROVAL_MS = 3_600_000
const SHUTDOWN_MS = 10_000
const SWEEP_MS = 600_000

/**
 * Starts the service: hub, store, index, and the doors to them. Listens on loopback unless said.
 * @example
 * const service = await startService({ sandbox: { root: '.' } }, { port: 0 })
 * console.log(service.url, service.token)
 */
export async function startService(hubOptions: HubOptions, options: StartServiceOptions = {}): Promise<RunningService> {
  const { runs, data = '.tool-hub', mcpServers, sources = [], approvals } = hubOptions
  if (runs === false) throw new ToolError('CONFIG_INVALID', 'A service keeps records: runs must be a folder.')
  const { clock = systemClock, onProblem = () => {}, shutdownMs: graceMs = SHUTDOWN_MS, configFile } = options
  const startedAt = clock.now()
  const hooks = options.webhooks ?? []
  checkWebhooks(hooks)
  const runsFolder = resolve(runs ?? 'runs')
  const store = hubOptions.store ?? openStore(resolve(data))
  await store.check()
  const mcp = mcpServers && createMcpSource(mcpServers)
  const hub = createToolHub({
    ...hubOptions,
    mcpServers: undefined,
    sources: mcp ? [...sources, mcp] : sources,
    store,
    approvals: {
      ...approvals,
      // People answer from elsewhere, and later.
      inbox: true,
      timeoutMs: options.approvalTimeoutMs ?? approvals?.timeoutMs ?? APPROVAL_MS,
    },
  }) as unknown as Hub
  const indexer = new RunIndexer({ calls: store.calls, runsFolder, clock })
  const feed = createEventFeed({ hub, indexer, clock })
  indexer.follow(hub)
  // What a killed process left open is ended in the background; new calls need not wait for it.
  const recovering = hub.recoverRuns().catch((error) => onProblem(`Old runs could not be ended: ${messageOf(error)}`))
  const asks = createAskDesk({ hub, store, feed, clock })
  const tokens = createTokenDesk({ store, hub, clock, roots: rootsOf(hubOptions.sandbox) })
  const service: Service = {
    hub,
    store,
    version: VERSION,
    startedAt,
    book: createCallBook({
      hub,
      store,
      runsFolder,
      indexer,
      redact: createRedactor(secretsOf(hubOptions)).text,
    }),
    feed,
    asks,
    policy: createPolicyDesk({ hub, store, runsFolder, indexer, feed, ...(configFile && { configFile }) }),
    tokens: {
      list: () => tokens.list(),
      admit: (secret) => tokens.admit(secret),
      create: (token, asked) => tokens.create(token, asked),
      async remove(id) {
        const isGone = await tokens.remove(id)
        // At once, not when it is next looked at.
        ws.dismiss(({ token }) => token === id)
        return isGone
      },
    },
    health: () =>
      describeHealth({
        hub,
        store,
        startedAt,
        clock,
        servers: () => mcp?.status() ?? [],
        principals: async () => (await tokens.list()).map(({ name, budget }) => ({ name: `token:${name}`, budget })),
      }),
  }
  const jwt = openJwtVerifier(hub, options.oidc ?? [], clock)
  const names = namesOf(options)
  const doorkeeper = createDoorkeeper({
    tokens,
    sessions: createSessionDesk({ store, tokens, jwt, clock }),
    jwt,
    ...(options.rate && { limits: { rate: options.rate } }),
    trustedProxies: options.trustedProxies,
    ...names,
    clock,
  })
  const app = await createHttpApp({
    service,
    doorkeeper,
    answers: createAnswerDoor({ hub, store, clock, hooks }),
    consoleFolder: fileURLToPath(builtFile('console')),
    ...names,
    onError: (error) =>
      onProblem(`The service failed: ${error instanceof Error ? (error.stack ?? error.message) : error}`),
    clock,
  })
  const ws = createWsDoor({ service, admit: (request) => doorkeeper.admit(fromIncomingMessage(request)), clock })
  const server = await listenHttp(app, {
    host: options.host,
    port: options.port ?? PORT,
    allowPlain: options.publicUrl !== undefined,
    graceMs,
    onUpgrade: (request, socket, head) => ws.upgrade(request, socket, head),
  }).catch(async (error) => {
    await Promise.allSettled([hub.close({ abort: true }), indexer.close(), store.close()])
    throw error
  })
  const webhooks = startWebhooks({
    hub,
    store,
    clock,
    hooks,
    publicUrl: () => options.publicUrl ?? server.url,
    onProblem,
  })
  const stopSweeping = sweepNowAndThen(() => store.sweep(clock.now()), clock, onProblem)
  let closing: Promise<void> | undefined
  return {
    url: server.url,
    token: tokens.createOwnerToken(),
    hub,
    close() {
      closing ??= close()
      return closing
    },
  }

  async function close(): Promise<void> {
    stopSweeping()
    await recovering
    // Whoever waits for a person is told to come again, while there is still a connection to tell it on.
    const ending = hub.close()
    await Promise.all([server.close(), ws.close({ graceMs })])
    await webhooks.close()
    asks.close()
    feed.close()
    await Promise.all([hub.close({ abort: true }), ending])
    await indexer.close()
    await store.close()
  }
}

/** How it may be addressed, and which pages may call it. */
function namesOf({ publicUrl, allowedHosts = [], allowedOrigins = [] }: ServiceOptions) {
  const own = publicUrl === undefined ? [] : [new URL(publicUrl)]
  return {
    allowedHosts: [...allowedHosts, ...own.map(({ hostname }) => hostname)],
    allowedOrigins: [...allowedOrigins, ...own.map(({ origin }) => origin)],
  }
}

/** The folders of the hub, which those of tokens made over the network must lie in. */
function rootsOf({ root, roots = [] }: Sandbox = {}): { path: string; mode: 'read' | 'write' }[] {
  const own = root === undefined ? [] : [{ path: resolve(root), mode: 'write' as const }]
  return [...own, ...roots.map(({ path, mode }) => ({ path: resolve(path), mode }))]
}

function sweepNowAndThen(sweep: () => unknown, clock: Clock, onProblem: (message: string) => void): () => void {
  let cancel = () => {}
  const again = () => {
    cancel = clock.after(
      SWEEP_MS,
      async () => {
        try {
          await sweep()
        } catch (error) {
          onProblem(`The store could not be cleaned: ${(error as Error).message}`)
        }
        again()
      },
      { background: true },
    )
  }
  again()
  return () => cancel()
}
