import type { ToolArrangement, ToolCard, ToolKind, Visibility, WireTool } from '../../core/index.ts'
import { compilePins, type ToolNames, type ToolVisibility } from '../../policy/index.ts'
import type { RegisteredTool } from './registered-tool.ts'
import type { ToolTable } from './registry.ts'

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
