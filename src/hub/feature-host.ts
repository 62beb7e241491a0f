import { join } from 'node:path'
import { type CallPort, type FeatureHost, isRunId, type Rights } from '../core/index.ts'
import { openArchives, pastCalls } from '../records/log/index.ts'
import { loadDialHost } from '../sandbox/network/index.ts'
import type { Assembly } from './create-runtime.ts'
import { endRun } from './end-run.ts'
import { Entrance } from './entrance.ts'
import type { Features } from './features.ts'
import { PrincipalHubs } from './principal-hub.ts'
import { recordChange } from './record-change.ts'

/** What a hub does for its abilities. */
export function createFeatureHost(assembly: Assembly, abilities: Features): FeatureHost {
  const { parts, visibility, runs, runsFolder, sources, defaultRun: run, defaultCaller: caller } = assembly
  const entrance = new Entrance({ parts, visibility, run, caller, rehearsal: (id) => runs.rehearsal(id) })
  const owner = {
    callDynamic: entrance.call.bind(entrance),
    registry: entrance,
    endRun: (id: string) => endRun(assembly, id),
  }
  // Their own: those who come in by a door go on in their run, whatever was begun for them.
  const principals = new PrincipalHubs(assembly)
  const { startProgram, webFetch, secret, hide, redact, warn, data, clock } = sources.lendHost('abilities')
  return {
    ...{ startProgram, webFetch, secret, hide, redact, warn, data, clock },
    store: parts.store,
    as: (rights) => {
      if (!rights.principal) return doorOf(owner, rights)
      const hub = principals.hubOf(rights.principal)
      const endRun = async (id: string) => {
        await hub.endRun(id)
        // Every session is a principal of its own, and there may be many.
        principals.forget(hub.name)
      }
      return doorOf({ ...hub, endRun }, rights)
    },
    principalNow: parts.principalNow,
    artifact: (id, ref, options) => runs.readArtifact(id, ref, options),
    isTainted: (id) => runs.rehearsal(id).tainted,
    pastCalls: async (id, page) => (runsFolder !== false && isRunId(id) ? pastCalls(join(runsFolder, id), page) : []),
    archives: runsFolder === false ? undefined : openArchives(runsFolder),
    recordChange: (change) => recordChange(assembly, change),
    emitChange: (feature, subject) => {
      const body = JSON.stringify({ ability: feature, subject })
      // A lost event is no failure: everybody who shows the feature also reads it again from time to time.
      const append = async () => parts.store.events.append({ topic: 'ability', body, at: clock.now() })
      append().catch(() => {})
    },
    dial: async (wish) => (await loadDialHost()).dialHost(wish, assembly.webFetchGuard()),
    services: abilities.services,
    openProxy: (network, { signal, maxBytes }) =>
      assembly.network().openProxy(network, signal, { limits: { maxBytes } }),
  }
}

interface Travelled {
  callDynamic: Entrance['call']
  readonly registry: Pick<Entrance, 'listForLLM'>
  endRun(run: string): Promise<void>
}

function doorOf(hub: Travelled, { caller, callerKind, grants }: Rights): CallPort {
  const bound = { caller, ...(callerKind && { callerKind }), ...(grants && { grants }) }
  return {
    call: (tool, input, options) => hub.callDynamic(tool, input, { ...options, ...bound }),
    listForLLM: (options) => hub.registry.listForLLM(options),
    endRun: (run) => hub.endRun(run),
  }
}
