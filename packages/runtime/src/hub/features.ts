import {
  CAPABILITY_OF_FEATURE,
  type Capability,
  FEATURES,
  type Feature,
  type FeatureCall,
  type FeatureDefinition,
  type FeatureHost,
  type FeatureName,
  type FeatureServices,
  type HubOptions,
  optionsOfFeature,
  type SourceHost,
  type Store,
  type StoredTools,
  ToolError,
  type ToolSource,
} from '@tool-hub/core'
import type { Sources } from './sources.ts'

type Method = (...values: unknown[]) => Promise<unknown>

/** The features of a hub, each created when the first call needs it. */
export interface FeatureRegistry {
  /** Creates the features that a tool with these capabilities uses. Returns `undefined` if all of them exist. */
  prepare(capabilities: ReadonlySet<Capability>): Promise<void> | undefined
  /** Returns the handle of a call for a feature that was prepared. */
  handle(name: FeatureName, call: FeatureCall): unknown
}

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
