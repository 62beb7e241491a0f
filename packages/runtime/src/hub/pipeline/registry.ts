import { type AnyTool, nameFinder, suggestNames, type ToolCard, ToolError, type WireTool } from '@tool-hub/core'
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
    return new ToolError('TOOL_NOT_FOUND', `Unknown tool ${JSON.stringify(name.slice(0, 128))}.`, { hint })
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
