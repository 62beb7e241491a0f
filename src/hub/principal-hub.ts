import { LRUCache } from 'lru-cache'
import { type AnyTool, type Principal, rootsOf, ToolError } from '../core/index.ts'
import { compileVisibility, type Policy } from '../policy/index.ts'
import type { Assembly } from './create-runtime.ts'
import { endRun } from './end-run.ts'
import { Entrance } from './entrance.ts'
import type { PrincipalHub } from './hub.ts'
import { rememberSight } from './hub-policy.ts'
import type { RegisteredTool } from './pipeline/registered-tool.ts'
import { type FoundTool, type RefusedTool, Registry, sortByName, ToolTable } from './pipeline/registry.ts'
import { newRunId, type RunOwner } from './runs.ts'
import type { Parts } from './runtime.ts'

interface Known {
  /** What was said of the principal, to know whether that changed. */
  readonly said: string
  readonly run: string
  readonly hub: PrincipalHub
}

const MAX_PRINCIPALS = 10_000
const NAME = /^[^\p{Cc}\p{Cf}\p{Co}\p{Cs}]{1,200}$/u

/** The hub as principals use it, one for each name: whoever comes again goes on in the same run. */
export class PrincipalHubs {
  readonly #assembly: Assembly
  /** Made for the first one, because it reserves its room at once. */
  #known: LRUCache<string, Known> | undefined

  constructor(assembly: Assembly) {
    this.#assembly = assembly
  }

  hubOf(principal: Principal): PrincipalHub {
    const { name } = principal
    if (typeof name !== 'string' || !NAME.test(name))
      throw new ToolError('CONFIG_INVALID', 'A principal needs a name of 1 to 200 characters, none of them invisible.')
    const said = JSON.stringify(principal)
    this.#known ??= new LRUCache({ max: MAX_PRINCIPALS })
    const known = this.#known.get(name)
    if (known?.said === said) return known.hub
    const run = known?.run ?? newRunId(this.#assembly.parts.clock)
    const hub = createPrincipalHub(this.#assembly, principal, run)
    this.#known.set(name, { said, run, hub })
    return hub
  }

  /** Should it come again, it goes on in another run. */
  forget(name: string): void {
    this.#known?.delete(name)
  }
}

function createPrincipalHub(assembly: Assembly, principal: Principal, run: string): PrincipalHub {
  const { runs, sources } = assembly
  const { name } = principal
  const roots = rootsOf(principal)
  const owner: RunOwner = { principal: name, ...(roots && { doors: assembly.doorsTo(roots) }) }
  const tools = new OwnTools(assembly.registry)
  const parts = partsOf(assembly, principal, owner, tools, run)
  const entrance = new Entrance({
    parts,
    visibility: { ...assembly.visibility, ...principal.visibility },
    run,
    caller: name,
    rehearsal: (id) => runs.rehearsal(id, owner),
  })
  return {
    name,
    run,
    callDynamic: (tool, input, options) => entrance.call(tool, input, options),
    stream: (tool, input, options) => entrance.stream(tool, input, options),
    // Whoever comes from outside does not choose the rules.
    explain: (tool, input, options) => entrance.explain(tool, input, { ...options, policy: undefined }),
    list: (options) => entrance.list(options),
    cards: (options) => entrance.cards(options),
    artifact: (ref, { run: of = run } = {}) => runs.readArtifact(of, ref, { owner }),
    openArtifact: (ref, { run: of = run } = {}) => runs.findArtifact(of, ref, owner),
    async endRun(id) {
      runs.assertMayEnd(id, owner)
      await endRun(assembly, id)
    },
    onToolsChanged: (listener) => parts.registry.onChange(listener),
    async ready(options) {
      await parts.ready()
      await sources.ready(options)
    },
    connect: (source) => sources.connect(source, tools),
    registry: {
      register: () => {
        throw new ToolError('POLICY_DENIED', 'Only the owner of the hub registers tools.', {
          hint: 'Connect a source, or a client with its own tools.',
        })
      },
      get: (tool) => parts.registry.get(tool),
      list: () =>
        parts.registry
          .list()
          .filter((entry) => parts.sees(entry).visible)
          .map(({ tool }) => tool),
      listForLLM: (options) => entrance.listForLLM(options),
    },
  }
}

/** The road as this one travels it: the same, with fewer tools in sight, more rules, its own limits and folders. */
function partsOf(
  assembly: Assembly,
  principal: Principal,
  owner: RunOwner,
  registry: OwnTools,
  openRun?: string,
): Parts {
  const { rules, runs } = assembly
  const { name, visibility, policy = [], budget, budgetFor: lasts, chargedRuns, rate, within } = principal
  const parts = within ? partsOf(assembly, within, owner, registry) : assembly.parts
  const look = rememberSight(compileVisibility(visibility ?? {}))
  const own = rules.beside(policy)
  // What the owner's own runs began is part of their session, as what is within another one is of that one's.
  const isWithin = within !== undefined || chargedRuns !== undefined
  const policyNow = isWithin ? joined(own, () => parts.policy) : own
  const holder = {
    name,
    limits: budget,
    lasts,
    chargedRuns,
    isWithin,
    ...(!isWithin && openRun !== undefined && { openRun }),
  }
  return {
    ...parts,
    principal: name,
    rights: principal,
    registry,
    get policy() {
      return policyNow()
    },
    sees(tool) {
      const sight = parts.sees(tool)
      return sight.visible ? look(tool) : sight
    },
    budget: parts.budget.forPrincipal(holder),
    rate: rate ? parts.rate.forPrincipal(name, rate) : parts.rate,
    run: (id) => runs.open(id, owner),
    readArtifact: (id, ref, options) => runs.readArtifact(id, ref, { ...options, owner }),
  }
}

/** One policy within another: made anew when one of them is another one. */
function joined(own: () => Policy, outer: () => Policy): () => Policy {
  let made: { readonly own: Policy; readonly outer: Policy; readonly both: Policy } | undefined
  return () => {
    const now = { own: own(), outer: outer() }
    if (made?.own !== now.own || made.outer !== now.outer) made = { ...now, both: { ...now.own, within: now.outer } }
    return made.both
  }
}

/** The tools of a hub as one principal has them: everybody's, and those that it brought itself and nobody else sees. */
export class OwnTools extends ToolTable {
  readonly #shared: ToolTable
  readonly #own = new Registry({ newestWins: true })

  constructor(shared: ToolTable) {
    super()
    this.#shared = shared
  }

  /** What a source of the principal's brings; never under a name that everybody's tools have. */
  offer(source: object, tools: readonly AnyTool[]): RefusedTool[] {
    const [free, taken] = split(tools, (tool) => this.#shared.find(tool?.name) === undefined)
    const refused = taken.map(({ name }) => ({ name, why: `The name ${name} is taken by a tool of the hub.` }))
    return [...this.#own.offer(source, free), ...refused]
  }

  get version(): number {
    return this.#shared.version + this.#own.version
  }

  /** Should the hub get a tool of the same name later, that one is meant: nobody takes a name away from it. */
  find(name: string): FoundTool | undefined {
    return this.#shared.find(name) ?? this.#own.find(name)
  }

  list(): RegisteredTool[] {
    const own = this.#own.list().filter(({ tool }) => this.#shared.find(tool.name) === undefined)
    return sortByName([...this.#shared.list(), ...own])
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
