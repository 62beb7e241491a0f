import { type AnyTool, lazyModule, type Principal, rootsOf, ToolError } from '@tool-hub/core'
import { compileVisibility, dialectOf, type Policy } from '@tool-hub/policy'
import { LRUCache } from 'lru-cache'
import type { PrincipalHub } from './hub-api.ts'
import type { RegisteredTool } from './pipeline/registered-tool.ts'
import { type FoundTool, type RefusedTool, Registry, ToolTable } from './pipeline/registry.ts'
import { ToolCatalog } from './pipeline/tool-catalog.ts'
import { callTool, streamTool } from './pipeline.ts'
import type { RunOwner } from './run-ownership.ts'
import { newRunId } from './runs.ts'
import { addUserText, endRun, type HubRuntime, loading, type Runtime } from './runtime.ts'

/** Only a question about a call needs it. */
export const loadExplain = lazyModule(() => import('./explain.ts'))

interface CachedHub {
  /** The serialised principal, to detect changes. */
  readonly said: string
  readonly run: string
  readonly hub: PrincipalHub
}

const MAX_PRINCIPALS = 10_000
const NAME = /^[^\p{Cc}\p{Cf}\p{Co}\p{Cs}]{1,200}$/u

/** The hubs of principals, one for each name: a principal that returns continues in the same run. */
export class PrincipalHubs {
  readonly #runtime: HubRuntime
  /** Created for the first principal, because the cache reserves its memory immediately. */
  #known: LRUCache<string, CachedHub> | undefined

  constructor(runtime: HubRuntime) {
    this.#runtime = runtime
  }

  hubOf(principal: Principal): PrincipalHub {
    const { name } = principal
    if (typeof name !== 'string' || !NAME.test(name))
      throw new ToolError('CONFIG_INVALID', 'A principal needs a name of 1 to 200 characters, none of them invisible.')
    const said = JSON.stringify(principal)
    this.#known ??= new LRUCache({ max: MAX_PRINCIPALS })
    const known = this.#known.get(name)
    if (known?.said === said) return known.hub
    const run = known?.run ?? newRunId(this.#runtime.clock)
    const hub = createPrincipalHub(this.#runtime, principal, run)
    this.#known.set(name, { said, run, hub })
    return hub
  }

  /** Forgets a principal: if it returns, it starts another run. */
  forget(name: string): void {
    this.#known?.delete(name)
  }
}

function createPrincipalHub(hub: HubRuntime, principal: Principal, run: string): PrincipalHub {
  const { runs, sources, plugins, doubts } = hub
  const { name } = principal
  const roots = rootsOf(principal)
  const owner: RunOwner = { principal: name, ...(roots && { sandbox: hub.sandboxFor(roots) }) }
  const tools = new OwnTools(hub.registry)
  const runtime = runtimeOf(hub, principal, { owner, tools, run, openRun: run })
  const { registry, catalog } = runtime
  return {
    name,
    run,
    addUserText: (text, options = {}) => addUserText(runtime, text, options),
    callDynamic: (tool, input, options) => callTool(runtime, tool, input, options),
    stream: (tool, input, options) => streamTool(runtime, tool, input, options),
    // A principal must not choose its own rules.
    async explain(tool, input, options) {
      const { explainCall } = await loadExplain()
      return explainCall(runtime, tool, input, { ...options, policy: undefined, asOf: undefined })
    },
    get loading() {
      return loading(hub)
    },
    list: (options) => catalog.list(options),
    cards: (options) => catalog.cards(options),
    artifact: (ref, { run: of = run } = {}) => runs.readArtifact(of, ref, { owner }),
    openArtifact: (ref, { run: of = run } = {}) => runs.findArtifact(of, ref, owner),
    async endRun(id) {
      await runs.assertMayUse(id, owner)
      await endRun(hub, id)
    },
    onToolsChanged: (listener) => registry.onChange(listener),
    async ready(options) {
      await (plugins.pending ?? sources.pending ?? doubts.pending)
      await sources.ready(options)
    },
    connect: (source) => sources.connect(source, tools),
    registry: {
      register: () => {
        throw new ToolError('POLICY_DENIED', 'Only the owner of the hub can register tools.', {
          hint: 'Connect a source, or a client with its own tools.',
        })
      },
      get: (tool) => registry.get(tool),
      list: () =>
        registry
          .list()
          .filter((entry) => catalog.sees(entry).visible)
          .map(({ tool }) => tool),
      listForLLM: (options) => catalog.listForLLM(options),
    },
  }
}

/** Returns the runtime of a principal for a call that another process has decided. */
export function guestRuntime(hub: HubRuntime, principal: Principal, run: string): Runtime {
  const roots = rootsOf(principal)
  const owner: RunOwner = { principal: principal.name, ...(roots && { sandbox: hub.sandboxFor(roots) }) }
  return runtimeOf(hub, principal, { owner, tools: new OwnTools(hub.registry), run })
}

interface Principality {
  readonly owner: RunOwner
  readonly tools: OwnTools
  readonly run: string
  /** The run that its budget counts as open; set only for the principal itself, not for the principals that contain it. */
  readonly openRun?: string
}

/** Creates the runtime of a principal, with fewer visible tools, more rules, and its own limits and folders. */
function runtimeOf(hub: HubRuntime, principal: Principal, own: Principality): Runtime {
  const { rules } = hub
  const { owner, tools: registry, run, openRun } = own
  const { name, visibility, policy = [], budget, budgetFor: lasts, chargedRuns, rate, within } = principal
  const outer: Runtime = within ? runtimeOf(hub, within, { owner, tools: registry, run }) : hub
  const look = compileVisibility(visibility ?? {})
  const ownPolicy = rules.beside(policy)
  // Work started by the owner's own runs belongs to their session, as a nested principal belongs to the outer one.
  const isWithin = within !== undefined || chargedRuns !== undefined
  const policyNow = isWithin ? joined(ownPolicy, () => outer.policy) : ownPolicy
  const ownShadow = rules.besideShadow(policy)
  const shadowNow = isWithin ? joined(ownShadow, () => outer.shadowPolicy!) : ownShadow
  const holder = {
    name,
    limits: budget,
    lasts,
    chargedRuns,
    isWithin,
    ...(!isWithin && openRun !== undefined && { openRun }),
  }
  return {
    ...outer,
    identity: { ...outer.identity, principal: name, rights: principal, run, caller: name, runOwner: owner },
    registry,
    catalog: new ToolCatalog(registry, look, {
      dialect: dialectOf({ ...hub.visibility, ...visibility }),
      ...hub.arrangedFor({ ...hub.visibility, ...visibility }),
      within: outer.catalog,
    }),
    get policy() {
      return policyNow()
    },
    get shadowPolicy() {
      // A hub without a shadow policy has none for anybody.
      return rules.shadow && shadowNow()
    },
    limits: {
      ...outer.limits,
      budget: outer.limits.budget.forPrincipal(holder),
      rate: rate ? outer.limits.rate.forPrincipal(name, rate) : outer.limits.rate,
    },
  }
}

/** Returns a getter of two nested policies, which compiles them again when one of them is replaced. */
function joined(own: () => Policy, outer: () => Policy): () => Policy {
  let made: { readonly own: Policy; readonly outer: Policy; readonly both: Policy } | undefined
  return () => {
    const now = { own: own(), outer: outer() }
    if (made?.own === now.own && made.outer === now.outer) return made.both
    const readsApprovals = now.own.readsApprovals || now.outer.readsApprovals
    made = { ...now, both: { ...now.own, readsApprovals, within: now.outer } }
    return made.both
  }
}

/** The tools of one principal: those of the hub, and its own, which no other principal sees. */
export class OwnTools extends ToolTable {
  readonly #shared: ToolTable
  readonly #own = new Registry({ newestWins: true })

  constructor(shared: ToolTable) {
    super()
    this.#shared = shared
  }

  /** Replaces the tools of a source of the principal. Refuses names of the hub's tools. */
  offer(source: object, tools: readonly AnyTool[]): RefusedTool[] {
    const [free, taken] = split(tools, (tool) => this.#shared.find(tool?.name) === undefined)
    const refused = taken.map(({ name }) => ({ name, why: `The name ${name} is taken by a tool of the hub.` }))
    return [...this.#own.offer(source, free), ...refused]
  }

  get version(): number {
    return this.#shared.version + this.#own.version
  }

  /** Finds a tool by name. The tools of the hub take precedence, even if they were added later. */
  find(name: string): FoundTool | undefined {
    return this.#shared.find(name) ?? this.#own.find(name)
  }

  *entries(): Iterable<RegisteredTool> {
    yield* this.#shared.entries()
    for (const entry of this.#own.entries()) if (this.#shared.find(entry.tool.name) === undefined) yield entry
  }

  *names(): Iterable<string> {
    yield* this.#shared.names()
    yield* this.#own.names()
  }

  onChange(listener: () => void): () => void {
    const stops = [this.#shared.onChange(listener), this.#own.onChange(listener)]
    return () => {
      for (const stop of stops) stop()
    }
  }
}

function split<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))]
}
