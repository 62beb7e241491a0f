import { join } from 'node:path'
import type { Scope } from '@tool-hub/core/protocol/shapes'
import { createMemoryStore } from '@tool-hub/library/stores'
import { openProcessGroup } from '../../packages/cluster/src/service/cluster-group.ts'
import { systemClock } from '../../packages/core/src/context.ts'
import type { HubOptions } from '../../packages/core/src/options.ts'
import type { NewToken } from '../../packages/core/src/protocol/service.ts'
import { RunIndexer } from '../../packages/runtime/src/hub/run-index/run-indexer.ts'
import { checkRecords } from '../../packages/runtime/src/records/log/disk-error.ts'
import { createApprovalService } from '../../packages/server/src/approvals/approval-service.ts'
import { Authenticator } from '../../packages/server/src/auth/authenticator.ts'
import { createSignInSessions } from '../../packages/server/src/auth/sign-in-sessions.ts'
import { createPrincipalLookup, TokenManager } from '../../packages/server/src/auth/token-manager.ts'
import { aloneGroup } from '../../packages/server/src/call-router.ts'
import { createHttpApp } from '../../packages/server/src/http/create-http-app.ts'
import type { HttpOptions } from '../../packages/server/src/http/http-context.ts'
import { type ListenOptions, listenHttp } from '../../packages/server/src/http/listen-http.ts'
import type { Service } from '../../packages/server/src/service.ts'
import { createCallHistory } from '../../packages/server/src/services/call-history.ts'
import { createEventHub } from '../../packages/server/src/services/event-hub.ts'
import { describeHealth } from '../../packages/server/src/services/health.ts'
import { listPrincipals } from '../../packages/server/src/services/list-principals.ts'
import { createPolicyManager } from '../../packages/server/src/services/policy-manager.ts'
import { type TestHub, testHub } from '../../packages/testing/src/tool-contract.ts'

/** A whole service over HTTP on loopback, with a token for each principal that is needed. */
export async function serveHttp(
  hubOptions: HubOptions = {},
  options: Partial<HttpOptions> & ListenOptions & { rate?: { perSecond: number; burst: number } } = {},
) {
  const { rate = { perSecond: 1e6, burst: 1e6 }, ...listening } = options
  const clock = options.clock ?? systemClock
  const store = createMemoryStore()
  const hub = testHub({ store, principals: createPrincipalLookup(store, Date.now), ...hubOptions }) as TestHub
  const runsFolder = join(hub.folder, 'runs')
  const indexer = new RunIndexer({ calls: store.calls, runsFolder })
  indexer.follow(hub)
  const events = createEventHub({ hub, indexer, store })
  const tokens = new TokenManager({ store, hub, base: hub.folder })
  const sessions = createSignInSessions({ store, tokens })
  const startedAt = Date.now()
  const approvals = createApprovalService({ hub, store, events, clock })
  const group = openProcessGroup(hub, store, clock) ?? aloneGroup
  const service: Service = {
    hub,
    store,
    version: '1.2.3',
    startedAt,
    history: createCallHistory({ hub, store, runsFolder, indexer }),
    events,
    approvals,
    policy: createPolicyManager({ hub, store, runsFolder, indexer, events, cwd: hub.folder }),
    tokens,
    principals: async () => listPrincipals({ store, tokens: await tokens.list(), now: clock.now() }),
    group,
    metrics: () => hub.metrics(),
    health: () => describeHealth({ hub, store, startedAt }),
    checkRecords: () => checkRecords(runsFolder),
  }
  const authenticator = new Authenticator({
    tokens,
    sessions,
    limits: { rate },
    allowedHosts: options.allowedHosts,
    allowedOrigins: options.allowedOrigins,
  })
  const errors: unknown[] = []
  const app = await createHttpApp({ service, authenticator, onError: (error) => errors.push(error), ...listening })
  const server = await listenHttp(app, { graceMs: 0, ...listening })
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
    approvals.close()
    events.close()
    await hub.close({ abort: true })
    await indexer.close()
  }
  return { hub, service, app, server, tokens, newToken, ask, errors, close }
}

/** What the tests use of it. */
export type HttpServed = Awaited<ReturnType<typeof serveHttp>>
