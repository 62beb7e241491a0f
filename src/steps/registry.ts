import type { AnyTool, CallerKind, Capability, Dialect } from '../define.ts'
import { CAPABILITIES, GUARDED } from '../define.ts'
import { ToolError } from '../errors.ts'
import { assertToolName, didYouMean, groupOf, toWireName } from '../names.ts'
import { groupsOf } from '../policy/tool-groups.ts'
import { type CompiledSchema, compileSchema } from '../schema/compile-schema.ts'

/** Who brought a tool; a later origin replaces an earlier one of the same name. Those of the owner no agent sees. */
export type Origin = 'builtin' | 'plugin' | 'caller' | 'owner'

/** A tool with everything that is derived from it once. */
export interface RegisteredTool {
  readonly tool: AnyTool
  readonly origin: Origin
  readonly wire: string
  /** Canonical, wire and dialect names: what rules and lists may call it. */
  readonly names: readonly string[]
  /** Those that rules may call it by: a word that is a capability of its own means that capability. */
  readonly ruleNames: readonly string[]
  readonly group: string
  readonly groups: readonly string[]
  readonly capabilities: ReadonlySet<Capability>
  /** The same, for policy. */
  readonly capabilityList: readonly Capability[]
  /** Those of the built-in tool whose place it has. */
  readonly floor?: readonly Capability[]
  /** May change something outside: its repetition is not free. */
  readonly hasEffects: boolean
  /** May do so without a door that tells: its intent is on record before it runs. */
  readonly recordsFirst: boolean
  readonly callers: readonly CallerKind[]
  readonly input: CompiledSchema
  readonly output: CompiledSchema | undefined
  readonly dialects: ReadonlyMap<string, RegisteredDialect>
}

/** A dialect with its compiled schema. */
export interface RegisteredDialect {
  readonly kind: string
  readonly dialect: Dialect
  readonly input: CompiledSchema | undefined
}

/** A tool with everything that a door to the outside may show of it, under the name of one dialect. */
export interface ToolCard extends WireTool {
  /** Canonical. */
  readonly tool: string
  readonly title?: string
  readonly capabilities: readonly Capability[]
  /** JSON Schema of `data`; none where another dialect shows it, or the tool does not say. */
  readonly output?: Record<string, unknown>
}

/** A tool that could not be registered, and why. */
export interface RefusedTool {
  readonly name: string
  readonly why: string
}

/** A tool as a model provider wants it. */
export interface WireTool {
  readonly name: string
  readonly description: string
  readonly parameters: Record<string, unknown>
}

/** A tool found by one of its names, and the dialect that name belongs to. */
export interface FoundTool {
  readonly entry: RegisteredTool
  readonly dialect: RegisteredDialect | undefined
}

const RANK: Record<Origin, number> = { builtin: 0, plugin: 1, caller: 2, owner: 3 }

/** All tools of a hub by every name they have. Built-in < plugin < caller's own (S1-2). */
export class Registry {
  #tools = new Map<string, RegisteredTool>()
  #byName = new Map<string, FoundTool>()
  /** In the order they came; a source's tools can be taken back. */
  readonly #registered: RegisteredTool[] = []
  readonly #offered = new Map<object, readonly RegisteredTool[]>()
  readonly #listeners = new Set<() => void>()

  /** Adds a tool, or replaces one of a lower origin. Two tools never share a name. One of a source goes with it. */
  register(tool: AnyTool, origin: Origin = 'caller', source?: object): void {
    const entry = registerable(tool, origin)
    this.#place(entry)
    if (source) this.#offered.set(source, [...(this.#offered.get(source) ?? []), entry])
    else this.#registered.push(entry)
    this.#tellChange()
  }

  /** What a source brings from now on, instead of what it brought before; what cannot be taken is told and left out. */
  offer(source: object, tools: readonly AnyTool[]): RefusedTool[] {
    const known = new Map((this.#offered.get(source) ?? []).map((entry) => [entry.tool, entry]))
    const refused: RefusedTool[] = []
    const attempt = (tool: AnyTool, work: () => void) => {
      try {
        work()
      } catch (error) {
        refused.push({ name: String(tool?.name), why: (error as Error).message })
      }
    }
    this.#rebuildWithout(source)
    const taken: RegisteredTool[] = []
    for (const tool of tools) {
      attempt(tool, () => {
        const entry = known.get(tool) ?? registerable(tool, 'plugin')
        assertMayOffer(entry, source)
        this.#placeAgain(entry)
        taken.push(entry)
      })
    }
    if (taken.length > 0) this.#offered.set(source, taken)
    this.#tellChange()
    return refused
  }

  /** Hears of every change. Returns how to stop. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #tellChange(): void {
    for (const listener of this.#listeners) listener()
  }

  /** What a tool had replaced comes back when it goes, so all are placed again. Nobody sees it half-done: nothing here waits. */
  #rebuildWithout(source: object): void {
    if (!this.#offered.delete(source)) return
    this.#tools = new Map()
    this.#byName = new Map()
    for (const entry of this.#registered) this.#placeAgain(entry)
    for (const entry of [...this.#offered.values()].flat()) this.#placeAgain(entry)
  }

  /** In another order than at first, two may want one name: the later gives up its dialects, never its place. */
  #placeAgain(entry: RegisteredTool): void {
    try {
      this.#place(entry)
    } catch {
      const free = [...entry.dialects.keys()].filter((name) => this.#byName.has(name)).reduce(withoutName, entry)
      this.#place(free)
    }
  }

  #place(given: RegisteredTool): void {
    const { name } = given.tool
    const present = this.#tools.get(name)
    if (present && RANK[present.origin] > RANK[given.origin]) return
    if (present && present.origin === given.origin) throw clash(name, name)
    const entry = present ? replacing(given, present) : given
    const taken = entry.names.filter((name) => this.#isTaken(name, entry, present))
    if (present) this.#forget(present)
    for (const name of taken) this.#add(withoutName(this.find(name)!.entry, name))
    this.#add(entry)
  }

  /** True for a name that another tool gives up: only the dialect of a lower origin does, so that you may have your own `read`. */
  #isTaken(name: string, entry: RegisteredTool, present: RegisteredTool | undefined): boolean {
    const found = this.#byName.get(name)
    if (!found || found.entry === present) return false
    if (found.dialect && RANK[found.entry.origin] < RANK[entry.origin]) return true
    throw clash(name, found.entry.tool.name)
  }

  #add(entry: RegisteredTool): void {
    const own = { entry, dialect: undefined }
    this.#tools.set(entry.tool.name, entry)
    this.#byName.set(entry.tool.name, own).set(entry.wire, own)
    for (const [name, dialect] of entry.dialects) this.#byName.set(name, { entry, dialect })
  }

  /** By canonical, wire or dialect name. */
  find(name: string): FoundTool | undefined {
    return this.#byName.get(name)
  }

  /** The definition (S2's Get). */
  get(name: string): AnyTool | undefined {
    return this.find(name)?.entry.tool
  }

  /** All of them, sorted by name, so that a listing is byte-stable. */
  list(): RegisteredTool[] {
    return [...this.#tools.values()].sort((a, b) => (a.tool.name < b.tool.name ? -1 : 1))
  }

  /** The wire form for a model (S2's ListForLLM), one name a tool: the dialect's where the tool has that dialect. */
  listForLLM(
    options: { readonly dialect?: string; readonly only?: (entry: RegisteredTool) => boolean } = {},
  ): WireTool[] {
    return this.list()
      .filter(options.only ?? (() => true))
      .map((entry) => wireForm(entry, options.dialect))
  }

  /** The same with all that a door to the outside may show. */
  cards(options: { readonly dialect?: string; readonly only?: (entry: RegisteredTool) => boolean } = {}): ToolCard[] {
    return this.list()
      .filter(options.only ?? (() => true))
      .map((entry) => cardOf(entry, options.dialect))
  }

  /** Every name of every tool. */
  names(): Iterable<string> {
    return this.#byName.keys()
  }

  notFound(name: string): ToolError {
    const names = [...this.#tools.values()].flatMap(({ tool, dialects }) => [tool.name, ...dialects.keys()])
    const hint = didYouMean(name, names) || 'List the tools to see their names.'
    return new ToolError('TOOL_NOT_FOUND', `There is no tool ${JSON.stringify(name.slice(0, 128))}.`, { hint })
  }

  #forget(entry: RegisteredTool): void {
    for (const name of entry.names) this.#byName.delete(name)
    this.#tools.delete(entry.tool.name)
  }
}

/** Checks a tool and derives once what calls need of it; what its author changes later changes nothing. */
function registerable(tool: AnyTool, origin: Origin): RegisteredTool {
  assertToolName(tool?.name)
  if (typeof tool.execute !== 'function') throw invalid(tool, 'has no execute function.')
  if (typeof tool.description !== 'string') throw invalid(tool, 'has no description.')
  if (tool.input === null || (typeof tool.input !== 'object' && typeof tool.input !== 'function')) {
    throw invalid(tool, 'has no input schema.')
  }
  for (const capability of tool.capabilities ?? []) {
    if (!(CAPABILITIES as readonly string[]).includes(capability)) {
      throw invalid(
        tool,
        `declares the unknown capability ${JSON.stringify(capability)}. ${didYouMean(capability, CAPABILITIES)}`,
      )
    }
  }
  const capabilities = new Set<Capability>(tool.capabilities ?? [])
  const dialects = new Map<string, RegisteredDialect>()
  for (const [kind, dialect] of Object.entries(tool.dialects ?? {})) {
    const input = dialect.input && compileSchema(dialect.input, { side: 'input' })
    for (const name of [dialect.name, ...(dialect.aliases ?? [])]) {
      assertToolName(name)
      dialects.set(name, { kind, dialect, input })
    }
  }
  const wire = toWireName(tool.name)
  const group = tool.group ?? groupOf(tool.name)
  const names = [...new Set([tool.name, wire, ...dialects.keys()])]
  return {
    tool,
    origin,
    wire,
    names,
    ruleNames: ruleNames(names, capabilities),
    group,
    groups: groupsOf({ name: tool.name, names, group }),
    ...rightsOf(capabilities),
    callers: tool.callers ?? (capabilities.has('danger:destructive') ? ['direct'] : ['direct', 'script']),
    input: compileSchema(tool.input, { side: 'input' }),
    output: tool.output && compileSchema(tool.output, { side: 'output' }),
    dialects,
  }
}

/** A built-in tool gives way only to one that means it, and what it may do is then the least that its place is judged by. */
function replacing(entry: RegisteredTool, present: RegisteredTool): RegisteredTool {
  if (entry.tool === present.tool || (present.floor === undefined && present.origin !== 'builtin')) return entry
  if (entry.origin !== 'owner' && entry.tool.override !== true) throw needsOverride(entry)
  const floor = present.floor ?? present.capabilityList
  const capabilities = new Set([...entry.capabilities, ...floor])
  return { ...entry, floor, ...rightsOf(capabilities), ruleNames: ruleNames(entry.names, capabilities) }
}

/** What follows from the capabilities alone. */
function rightsOf(capabilities: ReadonlySet<Capability>) {
  const all = [...capabilities]
  return {
    capabilities,
    capabilityList: all,
    hasEffects: all.some((capability) => capability !== 'read:fs'),
    recordsFirst: all.some((capability) => !isGuarded(capability, capabilities)),
  }
}

/** The same tool with one name of its dialects less. */
function withoutName(entry: RegisteredTool, name: string): RegisteredTool {
  const dialects = new Map([...entry.dialects].filter(([own]) => own !== name))
  const names = entry.names.filter((own) => own !== name)
  return {
    ...entry,
    dialects,
    names,
    ruleNames: ruleNames(names, entry.capabilities),
    groups: groupsOf({ name: entry.tool.name, names, group: entry.group }),
  }
}

function ruleNames(names: readonly string[], capabilities: ReadonlySet<string>): readonly string[] {
  return names.filter((name) => !capabilities.has(name))
}

/** Destroying files is a change to files; destroying anything else has no door that tells. */
function isGuarded(capability: Capability, all: ReadonlySet<Capability>): boolean {
  return GUARDED.has(capability) || (capability === 'danger:destructive' && all.has('write:fs'))
}

function wireForm(entry: RegisteredTool, kind: string | undefined): WireTool {
  for (const { kind: own, dialect, input } of entry.dialects.values()) {
    if (own !== kind) continue
    const description = dialect.description ?? entry.tool.description
    return { name: dialect.name, description, parameters: (input ?? entry.input).jsonSchema() }
  }
  return { name: entry.wire, description: entry.tool.description, parameters: entry.input.jsonSchema() }
}

function cardOf(entry: RegisteredTool, kind: string | undefined): ToolCard {
  const wire = wireForm(entry, kind)
  const { name: tool, title } = entry.tool
  return {
    ...wire,
    tool,
    ...(title !== undefined && { title }),
    capabilities: entry.capabilityList,
    ...(entry.output && { output: entry.output.jsonSchema() }),
  }
}

/** Names whose authority rules write down for one source: nobody else may be found under them. */
const RESERVED = [
  { prefixes: ['mcp/', 'mcp_'], source: 'mcp' },
  { prefixes: ['core/', 'core_'], source: 'skills' },
]

function assertMayOffer({ tool, names }: RegisteredTool, source: object): void {
  const { name: own } = source as { readonly name?: unknown }
  for (const { prefixes, source: owner } of RESERVED) {
    const reserved = names.find((name) => prefixes.some((prefix) => name.startsWith(prefix)))
    if (reserved === undefined || own === owner || tool.override === true) continue
    throw new ToolError('CONFIG_INVALID', `${reserved} is a name that only the source ${owner} may bring.`, {
      hint: 'Give the tool another name.',
    })
  }
}

function needsOverride({ tool }: RegisteredTool): ToolError {
  return new ToolError('CONFIG_INVALID', `${tool.name} is the name of a built-in tool.`, {
    hint: 'Give your tool another name; to take the place of the built-in one, define it with override: true.',
  })
}

function invalid(tool: AnyTool, what: string): ToolError {
  return new ToolError('CONFIG_INVALID', `The tool ${tool.name} ${what}`, {
    hint: 'See docs/contract.md for what a tool needs.',
  })
}

function clash(name: string, owner: string): ToolError {
  return new ToolError('CONFIG_INVALID', `The name ${name} is taken by the tool ${owner}.`, {
    hint: 'Rename one of the two tools, or its dialect.',
  })
}
