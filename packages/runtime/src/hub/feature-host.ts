import { join } from 'node:path'
import {
  type CallOptions,
  type CallPort,
  type FeatureHost,
  isRunId,
  type PastCall,
  type PastCallPage,
  type Rights,
} from '@tool-hub/core'
import { after } from '@tool-hub/core/lib'
import { loadDialHost } from '@tool-hub/sandbox/network'
import { openArchives, pastCalls } from '../records/log/index.ts'
import type { PrincipalHub, ToolRegistry } from './hub-api.ts'
import { callTool } from './pipeline.ts'
import { PrincipalHubs } from './principal-hub.ts'
import { endRun, type HubRuntime, recordChange } from './runtime.ts'

/** Creates the interface through which features use their hub. */
export function createFeatureHost(runtime: HubRuntime): FeatureHost {
  const { runs, runsFolder, sources, features, sandbox } = runtime
  const owner = {
    callDynamic: (tool: string, input: unknown, options?: CallOptions) => callTool(runtime, tool, input, options),
    registry: runtime.catalog,
    endRun: (id: string) => endRun(runtime, id),
  }
  // Separate from the principals of transports: a caller continues in its own run, whatever a feature started for it.
  const principals = new PrincipalHubs(runtime)
  const { startProgram, webFetch, secret, hide, redact, warn, data, clock } = sources.lendHost('abilities')
  return {
    ...{ startProgram, webFetch, secret, hide, redact, warn, data, clock },
    store: runtime.store,
    process: runtime.machines.ownership.process,
    tools: () => runtime.catalog.cards(),
    dialectTools: () => runtime.catalog.dialectCards(),
    as: (rights) => {
      if (!rights.principal) return portOf(owner, rights)
      const hub = principals.hubOf(rights.principal)
      const endRun = async (id: string) => {
        await hub.endRun(id)
        // Every session is a separate principal, and there may be many.
        principals.forget(hub.name)
      }
      return portOf({ ...hub, endRun }, rights)
    },
    principalNow: runtime.identity.principalNow,
    artifact: (id, ref, options) => runs.readArtifact(id, ref, options),
    isTainted: (id) => after(runs.taintedBy(id), (sources) => sources.length > 0),
    pastCalls: (id, page) => readCalls(runtime, id, page),
    archives: runsFolder === false ? undefined : openArchives(runsFolder),
    recordChange: (change) => recordChange(runtime, change),
    emitChange: (feature, subject) => {
      const body = JSON.stringify({ feature, subject })
      // Losing an event is not a failure: clients that show the feature also poll it from time to time.
      const append = async () => runtime.store.events.append({ topic: 'feature', body, at: clock.now() })
      append().catch(() => {})
    },
    reloadTools: (feature) => features.reloadTools(feature),
    dial: async (wish) => (await loadDialHost()).dialHost(wish, sandbox.webFetchGuard()),
    services: features.services,
    openProxy: (network, { signal, maxBytes }) =>
      sandbox.network().openProxy(network, signal, { limits: { maxBytes } }),
  }
}

/** The calls of a run, from the record of this machine unless others have more of it. */
async function readCalls(
  { runsFolder, machines }: HubRuntime,
  run: string,
  page: PastCallPage,
): Promise<readonly PastCall[]> {
  if (runsFolder === false || !isRunId(run)) return []
  const source = await machines.records.source(run)
  return source ? source.pastCalls(page) : pastCalls(join(runsFolder, run), page)
}

/** The hub of the owner or of a principal. */
interface CallingHub extends Pick<PrincipalHub, 'callDynamic' | 'endRun'> {
  readonly registry: Pick<ToolRegistry, 'listForLLM'>
}

function portOf(hub: CallingHub, { caller, callerKind, grants }: Rights): CallPort {
  const bound = { caller, ...(callerKind && { callerKind }), ...(grants && { grants }) }
  return {
    call: (tool, input, options) => hub.callDynamic(tool, input, { ...options, ...bound }),
    listForLLM: (options) => hub.registry.listForLLM(options),
    endRun: (run) => hub.endRun(run),
  }
}
