import {
  type AnyTool,
  nameFinder,
  suggestNames,
  type ToolArrangement,
  type ToolCard,
  ToolError,
  type ToolKind,
  type Visibility,
  type WireTool,
} from '../../core/index.ts'
import { compilePins, type ToolNames, type ToolVisibility } from '../../policy/index.ts'
import {
  type Origin,
  type RegisteredDialect,
  type RegisteredTool,
  registerable,
  replacing,
  withoutName,
} from './registered-tool.ts'

/** A tool found by one of its names, and the dialect that name belongs to. */
export interface FoundTool {
  readonly entry: RegisteredTool
  readonly dialect: RegisteredDialect | undefined
}

interface Choice {
  readonly dialect?: string
  readonly only?: (entry: RegisteredTool) => boolean
}

/** A read-only table of tools by name. */
export abstract class ToolTable {
  /** Finds the nearest names, valid until a tool changes. */
  #nearest: { readonly version: number; readonly find: (wanted: string) => string[] } | undefined

  /** A number that differs after every change. */
  abstract get version(): number

  /** Finds a tool by canonical, wire or dialect name. */
  abstract find(name: string): FoundTool | undefined

  /** Returns all tools in any order. */
  abstract entries(): Iterable<RegisteredTool>

  /** Returns all tools, sorted by name so that a listing is byte-stable. */
  list(): RegisteredTool[] {
    const named = new Map(Array.from(this.entries(), (entry) => [entry.tool.name, entry]))
    return [...named.keys()].sort().map((name) => named.get(name)!)
  }

  /** Returns every name of every tool. */
  abstract names(): Iterable<string>

  /** Calls the listener after every change. Returns a function that removes the listener. */
  abstract onChange(listener: () => void): () => void

  /** Returns the definition of a tool by any of its names (Get of the registry interface). */
  get(name: string): AnyTool | undefined {
    return this.find(name)?.entry.tool
  }

  /**
   * Returns the wire form of the tools for a model (ListForLLM of the registry interface), under dialect names if they
   * exist.
   */
  listForLLM({ dialect, only = () => true }: Choice = {}): WireTool[] {
    return this.list()
      .filter(only)
      .map((entry) => wireForm(entry, dialect))
  }

  /** Returns the tools with everything that a transport may show. */
  cards({ dialect, only = () => true }: Choice = {}): ToolCard[] {
    return this.list()
      .filter(only)
      .map((entry) => cardOf(entry, dialect))
  }

  notFound(name: string): ToolError {
    // Models repeat wrong names: preparing 10,000 known ones takes as long as comparing them.
    if (this.#nearest?.version !== this.version)
      this.#nearest = { version: this.version, find: nameFinder(suggestible(this.entries())) }
    const hint = suggestNames(this.#nearest.find(name)) || 'List the tools to see their names.'
    return new ToolError('TOOL_NOT_FOUND', `There is no tool ${JSON.stringify(name.slice(0, 128))}.`, { hint })
  }
}

/** A tool that could not be registered, and why. */
export interface RefusedTool {
  /** The name of the tool. */
  readonly name: string
  /** Why it was refused, in one sentence. */
  readonly why: string
}

const RANK: Record<Origin, number> = { builtin: 0, plugin: 1, caller: 2, owner: 3 }

/** All tools of a hub by all their names. Tools of plugins replace built-in ones, and those of the caller replace both. */
export class Registry extends ToolTable {
  #tools = new Map<string, RegisteredTool>()
  #byName = new Map<string, FoundTool>()
  /** The tools without a source, in the order of registration. */
  readonly #registered: RegisteredTool[] = []
  readonly #offered = new Map<object, readonly RegisteredTool[]>()
  readonly #listeners = new Set<() => void>()
  readonly #newestWins: boolean
  #version = 0

  /** With `newestWins`, the newer of two sources provides a tool that both offer. Default: the older one does. */
  constructor({ newestWins = false }: { readonly newestWins?: boolean } = {}) {
    super()
    this.#newestWins = newestWins
  }

  get version(): number {
    return this.#version
  }

  /** Adds a tool, or replaces one of a lower origin. Throws if a name is taken. A tool with a source is removed with it. */
  register(tool: AnyTool, origin: Origin = 'caller', source?: object): void {
    const entry = registerable(tool, origin)
    this.#place(entry)
    if (source) this.#offered.set(source, [...(this.#offered.get(source) ?? []), entry])
    else this.#registered.push(entry)
    this.#emitChange()
  }

  /** Replaces the tools of a source. Returns those that were refused, with the reason. */
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
    if (this.#newestWins) this.#takeNames(source, new Set(tools.map((tool) => tool?.name)))
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
    this.#emitChange()
    return refused
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #takeNames(source: object, names: ReadonlySet<string>): void {
    for (const [other, entries] of this.#offered) {
      const kept = entries.filter(({ tool }) => !names.has(tool.name))
      if (other === source || kept.length === entries.length) continue
      this.#rebuildWithout(other)
      for (const entry of kept) this.#placeAgain(entry)
      this.#offered.set(other, kept)
    }
  }

  #emitChange(): void {
    this.#version++
    for (const listener of this.#listeners) listener()
  }

  /**
   * Removes a source and places all tools again, so that replaced tools reappear. Synchronous, so no caller sees a
   * partial table.
   */
  #rebuildWithout(source: object): void {
    if (!this.#offered.delete(source)) return
    this.#tools = new Map()
    this.#byName = new Map()
    for (const entry of this.#registered) this.#placeAgain(entry)
    for (const entry of [...this.#offered.values()].flat()) this.#placeAgain(entry)
  }

  /** Places a tool in a new order. On a name clash the later tool gives up dialect names, never its canonical name. */
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

  /**
   * Returns `true` for a dialect name of a lower origin, which its tool gives up so that users may define their own
   * `read`. Throws on a clash.
   */
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

  find(name: string): FoundTool | undefined {
    return this.#byName.get(name)
  }

  entries(): Iterable<RegisteredTool> {
    return this.#tools.values()
  }

  names(): Iterable<string> {
    return this.#byName.keys()
  }

  #forget(entry: RegisteredTool): void {
    for (const name of entry.names) this.#byName.delete(name)
  }
}

/** Prefixes that only one source may use, because rules grant rights by these names. */
const RESERVED = [
  { prefixes: ['mcp/', 'mcp_'], source: 'mcp' },
  { prefixes: ['core/', 'core_'], source: 'skills' },
  { prefixes: ['script/'], source: 'code' },
]

function assertMayOffer({ tool, names }: RegisteredTool, source: object): void {
  const { name: own } = source as { readonly name?: unknown }
  for (const { prefixes, source: owner } of RESERVED) {
    const reserved = names.find((name) => prefixes.some((prefix) => name.startsWith(prefix)))
    if (reserved === undefined || own === owner || tool.override === true) continue
    throw new ToolError('CONFIG_INVALID', `${reserved} is reserved for the source ${owner}.`, {
      hint: 'Give the tool another name.',
    })
  }
}

function clash(name: string, owner: string): ToolError {
  return new ToolError('CONFIG_INVALID', `The name ${name} is taken by the tool ${owner}.`, {
    hint: 'Rename one of the two tools, or its dialect.',
  })
}

/** Returns the wire form of a tool, under the dialect's name if the tool has that dialect. */
export function wireForm(entry: RegisteredTool, kind: string | undefined): WireTool {
  for (const { kind: own, dialect, input } of entry.dialects.values()) {
    if (own !== kind) continue
    const description = dialect.description ?? entry.tool.description
    return { name: dialect.name, description, parameters: (input ?? entry.input).jsonSchema() }
  }
  return { name: entry.wire, description: entry.tool.description, parameters: entry.input.jsonSchema() }
}

/** Returns the wire form with everything that a transport may show. */
export function cardOf(entry: RegisteredTool, kind: string | undefined): ToolCard {
  const wire = wireForm(entry, kind)
  const { name: tool, title, texts, tags = [] } = entry.tool
  return {
    ...wire,
    tool,
    ...(title !== undefined && { title }),
    capabilities: entry.capabilityList,
    ...(texts && { texts }),
    ...(entry.output && { output: entry.output.jsonSchema() }),
    ...(tags.length > 0 && { tags }),
  }
}

function* suggestible(entries: Iterable<RegisteredTool>): Iterable<string> {
  for (const { tool, dialects } of entries) {
    yield tool.name
    yield* dialects.keys()
  }
}

/** A tool as `list` shows it. */
export interface ToolListing {
  /** Canonical name. */
  readonly name: string
  /** A short name for people; absent if the tool has none. */
  readonly title?: string
  /** When to use it, for the model. */
  readonly description: string
  /** The kind of definition: `core`, `langchain`, `skill` and others. */
  readonly kind: ToolKind
  /** The group, written `group:<name>` in rules. */
  readonly group: string
  /** The declared capabilities; empty for a pure tool. */
  readonly capabilities: readonly string[]
  /** Whether agents see the tool. */
  readonly visible: boolean
  /** Why the tool is hidden; absent if it is visible. */
  readonly why?: string
}

/** Lists all tools with their visibility, sorted by name. */
export function listTools(registry: ToolTable, sees: (tool: RegisteredTool) => ToolVisibility): ToolListing[] {
  return registry.list().map((entry) => {
    const { name, title, description } = entry.tool
    const { kind, group, capabilityList: capabilities } = entry
    return { name, ...(title && { title }), description, kind, group, capabilities, ...sees(entry) }
  })
}

const MAX_DIALECTS = 16

/** Which cards are returned. */
export interface CardOptions {
  /** The dialect of the names. Default: that of the profile. */
  readonly dialect?: string
  /** Also tools that a model is never shown, although they can be called (`shown: 'never'`). Default: `false`. */
  readonly all?: boolean
}

interface KnownCards {
  readonly version: number
  readonly cards: readonly ToolCard[]
  readonly all: readonly ToolCard[]
}

interface CatalogOptions {
  readonly dialect?: string
  readonly within?: ToolCatalog
  readonly arrange?: ToolArrangement['arrange']
  readonly isPinned?: (tool: ToolNames) => boolean
}

/** How the tools that callers see are arranged for models, by the visibility of a caller. */
export function arrangeFor(arrangements: readonly ToolArrangement[]): (visibility: Visibility) => CatalogOptions {
  const pin = arrangements.flatMap((each) => each.pin)
  return (visibility) => ({
    arrange: (all, isPinned) => arrangements.reduce((cards, each) => each.arrange(cards, isPinned), all),
    isPinned: compilePins(visibility, pin),
  })
}

/** The tools of a registry as one caller sees them. */
export class ToolCatalog {
  readonly #registry: ToolTable
  readonly #look: (tool: ToolNames) => ToolVisibility
  /** The names of a tool never change, and neither does what a caller sees. */
  readonly #seen = new WeakMap<RegisteredTool, ToolVisibility>()
  readonly #dialect: string | undefined
  readonly #within: ToolCatalog | undefined
  readonly #arrangement: ToolArrangement['arrange']
  readonly #isPinned: (tool: ToolNames) => boolean
  /** The cards by dialect, valid until a tool changes. */
  readonly #cards = new Map<string | undefined, KnownCards>()

  /**
   * `dialect` is the default dialect of listings. A tool that is hidden in the catalog `within` is hidden here too.
   * `arrange` says which tools a model is shown; by default, all that are visible.
   */
  constructor(registry: ToolTable, look: (tool: ToolNames) => ToolVisibility, options: CatalogOptions = {}) {
    const { dialect, within, arrange = (cards) => cards, isPinned = () => false } = options
    this.#registry = registry
    this.#look = look
    this.#dialect = dialect
    this.#within = within
    this.#arrangement = arrange
    this.#isPinned = isPinned
  }

  /** Returns whether the caller sees a tool, and why not. */
  sees(entry: RegisteredTool): ToolVisibility {
    const known = this.#seen.get(entry)
    if (known) return known
    const { tool, names, group } = entry
    const outer = this.#within?.sees(entry)
    const sight = outer?.visible === false ? outer : this.#look({ name: tool.name, names, group })
    this.#seen.set(entry, sight)
    return sight
  }

  list({ hidden = false }: { readonly hidden?: boolean } = {}): ToolListing[] {
    return listTools(this.#registry, (tool) => this.sees(tool)).filter(({ visible }) => visible || hidden)
  }

  cards({ dialect = this.#dialect, all = false }: CardOptions = {}): readonly ToolCard[] {
    const { version } = this.#registry
    const known = this.#cards.get(dialect)
    if (known?.version === version) return all ? known.all : known.cards
    const visible = this.#registry.cards({ dialect, only: (tool) => this.sees(tool).visible })
    const arranged = Object.freeze(this.#arrangement(visible, (tool) => this.#pins(tool)))
    const cards = Object.freeze(arranged.filter(({ shown }) => shown !== 'never'))
    // Bounded, because dialect names come from outside.
    if (this.#cards.size >= MAX_DIALECTS) this.#cards.clear()
    this.#cards.set(dialect, { version, cards, all: arranged })
    return all ? arranged : cards
  }

  listForLLM(options?: { readonly dialect?: string }): WireTool[] {
    return this.cards(options).flatMap(({ name, description, parameters, shown }) =>
      shown === undefined ? { name, description, parameters } : [],
    )
  }

  #pins(name: string): boolean {
    const found = this.#registry.find(name)
    if (!found) return false
    const { tool, names, group } = found.entry
    return this.#isPinned({ name: tool.name, names, group })
  }
}
