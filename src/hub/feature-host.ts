import { join } from 'node:path'
import { type CallOptions, type CallPort, type FeatureHost, isRunId, type Rights } from '../core/index.ts'
import { openArchives, pastCalls } from '../records/log/index.ts'
import { loadDialHost } from '../sandbox/network/index.ts'
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
    principalNow: runtime.principalNow,
    artifact: (id, ref, options) => runs.readArtifact(id, ref, options),
    isTainted: (id) => runs.rehearsal(id).tainted,
    pastCalls: async (id, page) => (runsFolder !== false && isRunId(id) ? pastCalls(join(runsFolder, id), page) : []),
    archives: runsFolder === false ? undefined : openArchives(runsFolder),
    recordChange: (change) => recordChange(runtime, change),
    emitChange: (feature, subject) => {
      const body = JSON.stringify({ ability: feature, subject })
      // Losing an event is not a failure: clients that show the feature also poll it from time to time.
      const append = async () => runtime.store.events.append({ topic: 'ability', body, at: clock.now() })
      append().catch(() => {})
    },
    dial: async (wish) => (await loadDialHost()).dialHost(wish, sandbox.webFetchGuard()),
    services: features.services,
    openProxy: (network, { signal, maxBytes }) =>
      sandbox.network().openProxy(network, signal, { limits: { maxBytes } }),
  }
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
