import { join } from 'node:path'
import {
  CAPABILITY_OF_FEATURE,
  type CallOptions,
  type CallPort,
  type Capability,
  FEATURES,
  type Feature,
  type FeatureCall,
  type FeatureDefinition,
  type FeatureHost,
  type FeatureName,
  type FeatureServices,
  type HubOptions,
  isRunId,
  optionsOfFeature,
  type PastCall,
  type PastCallPage,
  type Rights,
  type SourceHost,
  type Store,
  type StoredTools,
  ToolError,
  type ToolSource,
} from '@tool-hub/core'
import { after } from '@tool-hub/core/lib'
import { loadDialHost } from '@tool-hub/sandbox/network'
import { openArchives, pastCalls } from '../records/log/index.ts'
import type { PrincipalHub, ToolRegistry } from './hub-api.ts'
import { callTool } from './pipeline.ts'
import { PrincipalHubs } from './principal-hub.ts'
import { endRun, type FeatureRegistry, type HubRuntime, recordChange } from './runtime.ts'
import type { Sources } from './sources.ts'

type Method = (...values: unknown[]) => Promise<unknown>

/** The features of one hub. Each is created when it is first used; a hub whose tools use none loads none. */
export class Features implements FeatureRegistry {
  /** The services for the owner. Each method first creates its feature. */
  readonly services: FeatureServices
  readonly #options: HubOptions
  readonly #definitions: ReadonlyMap<FeatureName, FeatureDefinition>
  readonly #hostOf: () => FeatureHost
  readonly #creating = new Map<FeatureName, Promise<Feature>>()
  readonly #created = new Map<FeatureName, Feature>()
  readonly #stored = new Map<FeatureName, StoredToolSource>()
  #isClosed = false

  constructor(definitions: readonly FeatureDefinition[], options: HubOptions, hostOf: () => FeatureHost) {
    this.#options = options
    this.#definitions = new Map(definitions.map((definition) => [definition.name, definition]))
    this.#hostOf = hostOf
    const services = definitions.map(({ name, methods }) => [name, this.#serviceOf(name, methods)])
    this.services = Object.fromEntries(services)
  }

  /** Offers the tools that features keep in the store. */
  connectTools(sources: Pick<Sources, 'connect'>, store: Store): void {
    for (const { name, storedTools } of this.#definitions.values()) {
      if (!storedTools) continue
      const source = new StoredToolSource(name, storedTools.prefixes, () =>
        // The options are those of the feature that reads them.
        storedTools.read(optionsOfFeature(this.#options, name) as never, store),
      )
      this.#stored.set(name, source)
      sources.connect(source, undefined, { isComplete: true })
    }
  }

  async reloadTools(name: FeatureName): Promise<void> {
    await this.#stored.get(name)?.reload()
  }

  prepare(capabilities: ReadonlySet<Capability>): Promise<void> | undefined {
    const missing = FEATURES.filter((name) => capabilities.has(CAPABILITY_OF_FEATURE[name]) && !this.#created.has(name))
    if (missing.length === 0) return undefined
    return Promise.all(missing.map((name) => this.#create(name))).then(() => {})
  }

  handle(name: FeatureName, call: FeatureCall): unknown {
    return this.#created.get(name)!.handle(call)
  }

  async endRun(run: string): Promise<void> {
    await Promise.all([...this.#created.values()].map((feature) => feature.endRun?.(run)))
  }

  /** Stops features from starting new work. */
  calm(): void {
    for (const feature of this.#created.values()) feature.calm?.()
  }

  /** Closes every feature, even if one fails, and then throws the first failure. */
  async close(): Promise<void> {
    this.#isClosed = true
    const created = await Promise.allSettled(this.#creating.values())
    const closing = created.map(async (outcome) => outcome.status === 'fulfilled' && outcome.value.close())
    for (const outcome of await Promise.allSettled(closing)) if (outcome.status === 'rejected') throw outcome.reason
  }

  #create(name: FeatureName): Promise<Feature> {
    if (this.#isClosed) return Promise.reject(new ToolError('ABORTED', 'The hub is closed.'))
    const known = this.#creating.get(name)
    if (known) return known
    const creating = this.#definitions.get(name)!.create(optionsOfFeature(this.#options, name), this.#hostOf())
    this.#creating.set(name, creating)
    creating.then(
      (feature) => this.#created.set(name, feature),
      // The next call tries again: what was missing may be available by then.
      () => this.#creating.delete(name),
    )
    return creating
  }

  #serviceOf(name: FeatureName, methods: readonly string[]): Readonly<Record<string, Method>> {
    const method = (key: string): Method => {
      return async (...values) => {
        const { service } = (await this.#create(name)) as Feature<unknown, Readonly<Record<string, Method>>>
        return service[key]!(...values)
      }
    }
    return Object.freeze(Object.fromEntries(methods.map((key) => [key, method(key)])))
  }
}

/** The tools that a feature keeps in the store. */
class StoredToolSource implements ToolSource {
  readonly name: string
  readonly #prefixes: readonly string[]
  readonly #read: () => ReturnType<StoredTools['read']>
  #host: SourceHost | undefined
  #version = ''
  #reading: Promise<void> = Promise.resolve()

  constructor(name: string, prefixes: readonly string[], read: () => ReturnType<StoredTools['read']>) {
    this.name = name
    this.#prefixes = prefixes
    this.#read = read
  }

  async start(host: SourceHost): Promise<void> {
    this.#host = host
    this.#reading = this.#offer()
    let isStarting = true
    for (const prefix of this.#prefixes) host.expect(prefix, () => (isStarting ? this.#reading : this.reload()))
    isStarting = false
    await this.#reading
  }

  /** Reads again, after the reading that may have begun before the change. */
  reload(): Promise<void> {
    this.#reading = this.#reading.catch(() => {}).then(() => this.#offer())
    return this.#reading
  }

  async #offer(): Promise<void> {
    const { version, tools } = await this.#read()
    if (version === this.#version) return
    const refused = this.#host?.offer(await tools()) ?? []
    this.#version = version
    for (const { name, why } of refused) this.#host?.warn(`The tool ${name} is left out: ${why}`)
  }
}

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
