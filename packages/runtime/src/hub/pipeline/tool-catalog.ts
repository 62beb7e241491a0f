import type { ToolArrangement, ToolCard, ToolKind, Visibility, WireTool } from '@tool-hub/core'
import { compilePins, compileVisibility, type ToolNames, type ToolVisibility } from '@tool-hub/policy'
import type { RegisteredTool } from './registered-tool.ts'
import { cardOf, type ToolTable } from './registry.ts'

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

/** What a catalog shows, and to whom. */
interface CatalogOptions {
  /** The default dialect of listings. */
  readonly dialect?: string
  /** A tool that is hidden there is hidden here, too. */
  readonly within?: ToolCatalog
  /** Which tools a model is shown. Default: all that are visible. */
  readonly arrange?: ToolArrangement['arrange']
  readonly isPinned?: (tool: ToolNames) => boolean
  /** The tools that find others, and whether one is visible if the profile is left out. */
  readonly finders?: ReadonlySet<string>
  readonly isVisibleInFull?: (tool: ToolNames) => boolean
}

/** How the tools that callers see are arranged for models, by the visibility of a caller. */
export function arrangeFor(arrangements: readonly ToolArrangement[]): (visibility: Visibility) => CatalogOptions {
  const pin = arrangements.flatMap((each) => each.pin)
  const finders = new Set(arrangements.flatMap((each) => each.finders))
  return (visibility) => {
    const looksInFull = compileVisibility({ ...visibility, profile: 'full' })
    return {
      arrange: (all, isPinned) => arrangements.reduce((cards, each) => each.arrange(cards, isPinned), all),
      isPinned: compilePins(visibility, pin),
      finders,
      isVisibleInFull: (tool) => looksInFull(tool).visible,
    }
  }
}

/** The tools of a registry as one caller sees them. */
export class ToolCatalog {
  readonly #registry: ToolTable
  readonly #look: (tool: ToolNames) => ToolVisibility
  readonly #options: CatalogOptions
  /** The names of a tool never change, and neither does what a caller sees. */
  readonly #seen = new WeakMap<RegisteredTool, ToolVisibility>()
  /** The cards by dialect, valid until a tool changes. */
  readonly #cards = new Map<string | undefined, KnownCards>()
  #dialectCards: { readonly of: readonly ToolCard[]; readonly cards: readonly ToolCard[] } | undefined

  constructor(registry: ToolTable, look: (tool: ToolNames) => ToolVisibility, options: CatalogOptions = {}) {
    this.#registry = registry
    this.#look = look
    this.#options = options
  }

  /** Returns whether the caller sees a tool, and why not. */
  sees(entry: RegisteredTool): ToolVisibility {
    const sight = this.#sight(entry)
    if (sight.visible || !this.#isFinder(entry)) return sight
    return this.cards().some(({ tool }) => tool === entry.tool.name) ? { visible: true } : sight
  }

  /** What lists and profiles say about a tool. */
  #sight(entry: RegisteredTool): ToolVisibility {
    const known = this.#seen.get(entry)
    if (known) return known
    const outer = this.#options.within?.sees(entry)
    const sight = outer?.visible === false ? outer : this.#look(namesOf(entry))
    // An outer catalog may show a tool that finds others as soon as there are more tools.
    if (!this.#isFinder(entry)) this.#seen.set(entry, sight)
    return sight
  }

  /** Whether a tool finds others, and is hidden by nothing but a profile. */
  #isFinder(entry: RegisteredTool): boolean {
    if (!this.#options.finders?.has(entry.tool.name) || this.#options.within?.sees(entry).visible === false)
      return false
    return this.#options.isVisibleInFull?.(namesOf(entry)) === true
  }

  list({ hidden = false }: { readonly hidden?: boolean } = {}): ToolListing[] {
    return listTools(this.#registry, (tool) => this.sees(tool)).filter(({ visible }) => visible || hidden)
  }

  cards({ dialect = this.#options.dialect, all = false }: CardOptions = {}): readonly ToolCard[] {
    const { version } = this.#registry
    const known = this.#cards.get(dialect)
    if (known?.version === version) return all ? known.all : known.cards
    const isSeen = (entry: RegisteredTool) => this.#sight(entry).visible
    const candidates = this.#registry.cards({ dialect, only: (entry) => isSeen(entry) || this.#isFinder(entry) })
    const arranged = Object.freeze(
      this.#arrange(candidates).filter(
        ({ tool, shown }) => shown !== 'never' || isSeen(this.#registry.find(tool)!.entry),
      ),
    )
    const cards = Object.freeze(arranged.filter(({ shown }) => shown !== 'never'))
    // Bounded, because dialect names come from outside.
    if (this.#cards.size >= MAX_DIALECTS) this.#cards.clear()
    this.#cards.set(dialect, { version, cards, all: arranged })
    return all ? arranged : cards
  }

  /** The visible tools under each name of their dialects, with the arguments of those. */
  dialectCards(): readonly ToolCard[] {
    const tools = this.cards()
    if (this.#dialectCards?.of !== tools) {
      const cards = tools.flatMap(({ tool }) => {
        const { entry } = this.#registry.find(tool)!
        return Array.from(entry.dialects, ([name, { kind }]) => ({ ...cardOf(entry, kind), name }))
      })
      this.#dialectCards = { of: tools, cards: Object.freeze(cards) }
    }
    return this.#dialectCards.cards
  }

  listForLLM(options?: { readonly dialect?: string }): WireTool[] {
    return this.cards(options).flatMap(({ name, description, parameters, shown }) =>
      shown === undefined ? { name, description, parameters } : [],
    )
  }

  #arrange(cards: readonly ToolCard[]): readonly ToolCard[] {
    const { arrange = (all) => all, isPinned = () => false } = this.#options
    return arrange(cards, (name) => {
      const found = this.#registry.find(name)
      return found !== undefined && isPinned(namesOf(found.entry))
    })
  }
}

function namesOf({ tool, names, group }: RegisteredTool): ToolNames {
  return { name: tool.name, names, group }
}
