import { resolve } from 'node:path'
import {
  type AnyTool,
  type Awaitable,
  type Clock,
  type HubOptions,
  messageOf,
  type Sandbox,
  ToolError,
} from '@tool-hub/core'
import { hashJson, VERSION } from '@tool-hub/core/lib'
import type { ConfigState } from '@tool-hub/core/protocol'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { openStoreOf } from '@tool-hub/library/stores'
import { createMcpSource } from '@tool-hub/mcp'
import { type Hub, isStoreLost, RunIndexer, restoreKeys, secretsOf, storeIsLost } from '@tool-hub/runtime/hub'
import { checkRecords } from '@tool-hub/runtime/records/log'
import { createRedactor } from '@tool-hub/runtime/records/redaction'
import { isOlderStore, markLostStore } from '@tool-hub/runtime/store'
import { createApprovalService } from './approvals/approval-service.ts'
import { createPrincipalLookup, TokenManager } from './auth/token-manager.ts'
import { ConfigReload, type FileRules, refusedMessage, restartMessage } from './config-reload.ts'
import { openGroup } from './machines.ts'
import type { Service } from './service.ts'
import { createCallHistory } from './services/call-history.ts'
import { DecisionCounts } from './services/counts.ts'
import { createEventHub, type SharedEventHub } from './services/event-hub.ts'
import { DiskUse, describeHealth } from './services/health.ts'
import { listPrincipals } from './services/list-principals.ts'
import { processMetrics, serviceMetrics } from './services/metrics.ts'
import { createPolicyManager } from './services/policy-manager.ts'

/** The service before it listens. */
export interface AssembledService {
  readonly service: Service
  readonly tokens: TokenManager
  readonly events: SharedEventHub
  /** Absolute path of the records. */
  readonly runsFolder: string
  /** Adds what the transports count to the metrics. */
  addMetrics(text: () => Awaitable<string>): void
  /** Reads the config file again; `undefined` without one. */
  reload(): Promise<ConfigState | undefined>
  /** Ends pending approvals with a hint to retry and refuses new calls; calls in progress continue. */
  drain(): void
  /** Stops the calls in progress, after `drain`. */
  stopCalls(): void
  /** Aborts the calls in progress and flushes everything. */
  close(): Promise<void>
}

/** Options of `assembleService` in addition to those of the hub. */
export interface AssembleOptions {
  readonly clock: Clock
  readonly approvalTimeoutMs: number | undefined
  readonly configFile: string | undefined
  /** `event` is its name in the log. */
  readonly onProblem: (message: string, event?: string) => void
  /** Called with the id of a token that was revoked, to close its connections. */
  readonly onRevoked: (token: string) => void
}

const APPROVAL_MS = 3_600_000
const RULES_OF_MANY =
  'Several processes have these rules, each in a file of its machine: change that file and deploy it to all machines.'

/** Creates the hub, store, index and services. */
export async function assembleService(hubOptions: HubOptions, options: AssembleOptions): Promise<AssembledService> {
  const { runs, data = '.tool-hub', mcpServers } = hubOptions
  if (runs === false) throw new ToolError('CONFIG_INVALID', 'A service keeps records: runs must be a folder.')
  const { clock, configFile, onProblem, onRevoked } = options
  const startedAt = clock.now()
  const runsFolder = resolve(runs ?? 'runs')
  const hasFile = !hubOptions.store && !hubOptions.database
  const isLost = hasFile && (await isStoreLost(resolve(data), runsFolder))
  if (isLost) {
    onProblem(storeIsLost(resolve(data), runsFolder))
    await markLostStore(resolve(data))
  }
  const store = hubOptions.store ?? openStoreOf(hubOptions)
  try {
    await store.check()
  } catch (error) {
    if (!isOlderStore(error)) throw error
    // The owner decides: the service starts, and is not ready until the store is accepted.
    if (!isLost) onProblem(`${error.message} ${error.fix.hint}`)
  }
  // Before the first call: an idempotency key that only the records have must not be used again.
  await restoreKeys({ keys: store.keys, calls: store.calls, runsFolder, now: startedAt, onProblem })
  const mcp = mcpServers && createMcpSource(mcpServers)
  const hub: Hub = createToolHub<readonly AnyTool[]>(
    hubOptionsOf({ principals: createPrincipalLookup(store, () => clock.now()), ...hubOptions, store }, mcp, options),
  )
  const group = openGroup(hub, store, clock)
  const indexer = new RunIndexer({ calls: store.calls, runsFolder, clock })
  const events = createEventHub({ hub, indexer, store, clock })
  indexer.follow(hub)
  // Runs that a killed process left open are ended in the background; new calls do not wait for it.
  const recovering = hub.recoverRuns().catch((error) => onProblem(`Old runs could not be ended: ${messageOf(error)}`))
  const approvals = createApprovalService({ hub, store, events, clock })
  const tokens = new TokenManager({ store, hub, clock, roots: rootsOf(hubOptions.sandbox) })
  const redact = createRedactor(secretsOf(hubOptions)).text
  const reload = configFile === undefined ? undefined : openReload(configFile)
  const policy = createPolicyManager({
    hub,
    store,
    runsFolder,
    indexer,
    events,
    ...(configFile && { configFile }),
    ...(group.hasOthers && { readOnly: RULES_OF_MANY }),
    warnings: () => reload?.warnings() ?? [],
  })
  await reload?.start()
  describeRules()
  const diskUse = new DiskUse({ folders: { data: resolve(data), runs: runsFolder }, clock })
  const decisions = new DecisionCounts()
  hub.onRecord(decisions.note)
  const further: (() => Awaitable<string>)[] = []
  const service: Service = {
    hub,
    store,
    version: VERSION,
    startedAt,
    history: createCallHistory({ hub, store, runsFolder, indexer, clock, redact }),
    events,
    approvals,
    policy,
    group,
    tokens: {
      list: () => tokens.list(),
      create: (token, asked) => tokens.create(token, asked),
      async rotate(id, overlap, asked) {
        const rotated = await tokens.rotate(id, overlap, asked)
        if (overlap?.overlapMs === 0) onRevoked(id)
        return rotated
      },
      async remove(id) {
        const isGone = await tokens.remove(id)
        onRevoked(id)
        return isGone
      },
    },
    checkRecords: () => checkRecords(runsFolder),
    async metrics() {
      const own = { health: await service.health(), decisions, store, now: clock.now() }
      const texts = [hub.metrics(), serviceMetrics(own), processMetrics(store), ...further.map((text) => text())]
      return (await Promise.all(texts)).join('')
    },
    async principals() {
      await indexer.flush()
      return listPrincipals({ store, tokens: await tokens.list(), now: clock.now() })
    },
    health: () =>
      describeHealth({
        hub,
        store,
        startedAt,
        clock,
        servers: () => mcp?.status() ?? [],
        disk: () => diskUse.describe(),
        config: () => reload?.state,
        principals: async () => (await tokens.list()).map(({ name, budget }) => ({ name: `token:${name}`, budget })),
      }),
  }
  const stopWatching = tokens.watchRevoked(onRevoked)
  let ending: Promise<void> | undefined
  return {
    service,
    tokens,
    events,
    runsFolder,
    addMetrics: (text) => void further.push(text),
    reload: async () => reload?.reload(),
    drain() {
      ending ??= hub.close()
      // `close` reports the error.
      ending.catch(() => {})
    },
    stopCalls() {
      // `close` reports the error.
      hub.close({ abort: true }).catch(() => {})
    },
    async close() {
      await Promise.all([recovering, reload?.close(), diskUse.close()])
      stopWatching()
      approvals.close()
      events.close()
      await Promise.all([hub.close({ abort: true }), ending])
      await indexer.close()
      if (!hubOptions.store) await store.close()
    },
  }

  function openReload(file: string): ConfigReload {
    const onChange = (state: ConfigState) => {
      events.publish({ type: 'policy-changed' })
      if (state.problem !== undefined) onProblem(refusedMessage(state), 'config-refused')
      else if (state.restart.length > 0) onProblem(restartMessage(state), 'config-restart')
    }
    const apply = async (found: FileRules) => {
      const isChanged = await policy.adopt(found)
      describeRules()
      return isChanged
    }
    return new ConfigReload({ file, clock, apply, onChange })
  }

  /** Other processes show whether they have the same rules. */
  function describeRules(): void {
    if (!group.hasOthers) return
    const { always = [], owner = [], defaults = [] } = hub.policyLayers()
    group.publishRules(hashJson([always, owner, defaults].map((layer) => layer.map(({ rule }) => rule))))
  }
}

/** The owner's options, with approvals that people answer later and from elsewhere. */
function hubOptionsOf(
  { sources = [], approvals, ...rest }: HubOptions,
  mcp: ReturnType<typeof createMcpSource> | undefined,
  { approvalTimeoutMs }: AssembleOptions,
): HubOptions {
  const timeoutMs = approvalTimeoutMs ?? approvals?.timeoutMs ?? APPROVAL_MS
  return {
    ...rest,
    mcpServers: undefined,
    sources: mcp ? [...sources, mcp] : sources,
    approvals: { ...approvals, inbox: true, timeoutMs },
  }
}

/** The roots of the hub; the roots of tokens that are created over the network must be inside them. */
function rootsOf({ root, roots = [] }: Sandbox = {}): { path: string; mode: 'read' | 'write' }[] {
  const own = root === undefined ? [] : [{ path: resolve(root), mode: 'write' as const }]
  return [...own, ...roots.map(({ path, mode }) => ({ path: resolve(path), mode }))]
}
