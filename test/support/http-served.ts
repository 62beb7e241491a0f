import { join } from 'node:path'
import { systemClock } from '../../src/clock.ts'
import { RunIndexer } from '../../src/hub/run-index/run-indexer.ts'
import type { HubOptions } from '../../src/options.ts'
import { checkRecords } from '../../src/record/check-records.ts'
import type { NewToken } from '../../src/serve/api/service.ts'
import type { Scope } from '../../src/serve/api/shapes.ts'
import { createAskDesk } from '../../src/serve/asks/create-ask-desk.ts'
import { createDoorkeeper } from '../../src/serve/auth/create-doorkeeper.ts'
import { createSessionDesk } from '../../src/serve/auth/create-session-desk.ts'
import { createPrincipalLookup, createTokenDesk } from '../../src/serve/auth/create-token-desk.ts'
import { createCallBook } from '../../src/serve/book/create-call-book.ts'
import { createEventFeed } from '../../src/serve/book/create-event-feed.ts'
import { createPolicyDesk } from '../../src/serve/book/create-policy-desk.ts'
import { describeHealth } from '../../src/serve/book/describe-health.ts'
import { listPrincipals } from '../../src/serve/book/list-principals.ts'
import { createHttpApp } from '../../src/serve/http/create-http-app.ts'
import type { HttpParts } from '../../src/serve/http/http-parts.ts'
import { type ListenOptions, listenHttp } from '../../src/serve/http/listen-http.ts'
import type { Service } from '../../src/serve/service.ts'
import { createMemoryStore } from '../../src/store/memory/create-memory-store.ts'
import { type TestHub, testHub } from '../../src/testing/test-hub.ts'

/** A whole service over HTTP on loopback, with a token for whoever is needed. */
export async function serveHttp(
  hubOptions: HubOptions = {},
  options: Partial<HttpParts> & ListenOptions & { rate?: { perSecond: number; burst: number } } = {},
) {
  const { rate = { perSecond: 1e6, burst: 1e6 }, ...door } = options
  const clock = options.clock ?? systemClock
  const store = createMemoryStore()
  const hub = testHub({ store, principals: createPrincipalLookup(store, Date.now), ...hubOptions }) as TestHub
  const runsFolder = join(hub.folder, 'runs')
  const indexer = new RunIndexer({ calls: store.calls, runsFolder })
  indexer.follow(hub)
  const feed = createEventFeed({ hub, indexer, store })
  const tokens = createTokenDesk({ store, hub, base: hub.folder })
  const sessions = createSessionDesk({ store, tokens })
  const startedAt = Date.now()
  const asks = createAskDesk({ hub, store, feed, clock })
  const service: Service = {
    hub,
    store,
    version: '1.2.3',
    startedAt,
    book: createCallBook({ hub, store, runsFolder, indexer }),
    feed,
    asks,
    policy: createPolicyDesk({ hub, store, runsFolder, indexer, feed, cwd: hub.folder }),
    tokens,
    principals: async () => listPrincipals({ store, tokens: await tokens.list(), now: clock.now() }),
    metrics: () => hub.metrics(),
    health: () => describeHealth({ hub, store, startedAt }),
    checkRecords: () => checkRecords(runsFolder),
  }
  const doorkeeper = createDoorkeeper({
    tokens,
    sessions,
    limits: { rate },
    allowedHosts: options.allowedHosts,
    allowedOrigins: options.allowedOrigins,
  })
  const errors: unknown[] = []
  const app = await createHttpApp({ service, doorkeeper, onError: (error) => errors.push(error), ...door })
  const server = await listenHttp(app, { graceMs: 0, ...door })
  const newToken = async (name: string, scopes: readonly [Scope, ...Scope[]], more: Partial<NewToken> = {}) =>
    (await tokens.create({ name, scopes: [...scopes], ...more }, { mayAllow: true })).secret
  /** A request with a token, and its answer as JSON where it is some. */
  const ask = async (
    method: string,
    path: string,
    token?: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) => {
    const response = await fetch(new URL(path, server.url), {
      method,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: isJson && text ? JSON.parse(text) : undefined,
    }
  }
  const close = async () => {
    await server.close()
    asks.close()
    feed.close()
    await hub.close({ abort: true })
    await indexer.close()
  }
  return { hub, service, app, server, tokens, newToken, ask, errors, close }
}

/** What the tests use of it. */
export type HttpServed = Awaited<ReturnType<typeof serveHttp>>
