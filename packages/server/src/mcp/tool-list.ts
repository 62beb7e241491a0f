import type { ListToolsResult, Tool, ToolAnnotations } from '@modelcontextprotocol/server'
import type { Capability, Clock, ToolCard, ToolResult } from '@tool-hub/core'
import { deepFreeze, isPlainObject } from '@tool-hub/core/lib'
import { FORMS } from '@tool-hub/core/schema'
import { z } from 'zod'
import type { Era, ServedHub } from './options.ts'

/** Makes clients send an argument also as a header, which is not verified here, so it is removed. */
const HEADER_KEYWORD = 'x-mcp-header'

const ONLY_READS: ReadonlySet<Capability> = new Set(['read:fs', 'network'])

const REACHES_OUT: ReadonlySet<Capability> = new Set(['network', 'send', 'remote', 'exec'])

/** How long a client of the modern era may use a list without asking again. */
const TTL_MS = 60_000

interface Lists {
  readonly legacy: ListToolsResult
  readonly modern: ListToolsResult
  /** All tools in both forms, in the order of the list, those included that are not listed now. */
  readonly all: readonly Listed[]
  readonly byName: ReadonlyMap<string, Listed>
  readonly json: string
}

interface Listed {
  readonly card: ToolCard
  readonly legacy: Tool
  readonly modern: Tool
}

/** The visible tools of a hub as MCP shows them: made once, the very same object for everybody until the tools change. */
export class ToolList {
  readonly #hub: ServedHub
  readonly #dialect: string | undefined
  readonly #listeners = new Set<() => void>()
  readonly #stopListening: () => void
  #lists: Lists | undefined
  #isStale = false
  #arriving: Promise<void> | undefined

  constructor(
    hub: ServedHub,
    options: { readonly dialect?: string; readonly readyTimeoutMs: number; readonly clock: Clock },
  ) {
    this.#hub = hub
    this.#dialect = options.dialect
    this.#arriving = settled(hub, options).then(() => {
      this.#arriving = undefined
    })
    this.#stopListening = hub.onToolsChanged(() => this.#noteChange())
  }

  /** Resolves when the sources have brought their tools, or were waited for long enough. */
  async ready(): Promise<void> {
    await this.#arriving
  }

  /** The answer to tools/list, for a client that has asked about these tools, by canonical name. */
  result(era: Era, described: ReadonlySet<string> = NONE): ListToolsResult {
    const lists = this.#current()
    if (!lists.all.some(({ card }) => isDescribed(card, described))) return lists[era]
    const listed = lists.all.filter(({ card }) => card.shown === undefined || isDescribed(card, described))
    return { ...lists[era], tools: listed.map((each) => each[era]) }
  }

  /** The tools of these canonical names, whether they are listed or not. */
  some(names: ReadonlySet<string>): readonly Tool[] {
    return this.#current().all.flatMap(({ card, modern }) => (names.has(card.tool) ? [modern] : []))
  }

  /** The tool of a wire name, as it is or would be listed. */
  find(name: string): Tool | undefined {
    return this.#current().byName.get(name)?.modern
  }

  /** The tools that a call has described and that are not listed by themselves, by canonical name. */
  describedBy(name: string, result: ToolResult): readonly string[] {
    const { all, byName } = this.#current()
    if (!result.ok || byName.get(name)?.card.finds !== 'describe') return []
    const parsed = DESCRIBED.safeParse(result.data)
    const names = new Set(parsed.success ? parsed.data.tools.map(({ tool }) => tool) : [])
    return all.filter(({ card }) => isDescribed(card, names)).map(({ card }) => card.tool)
  }

  /** Calls the listener when the list has changed. Returns a function that unsubscribes. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  close(): void {
    this.#stopListening()
    this.#listeners.clear()
  }

  #current(): Lists {
    this.#lists ??= build(this.#hub.cards({ dialect: this.#dialect, all: true }))
    return this.#lists
  }

  /**
   * A source adds many tools together, often the same ones again: listeners are called once, and only if the list
   * differs.
   */
  #noteChange(): void {
    if (this.#isStale) return
    this.#isStale = true
    const before = this.#lists
    queueMicrotask(() => {
      this.#isStale = false
      this.#lists = undefined
      if (!before || this.#current().json !== before.json) for (const listener of this.#listeners) listener()
      else this.#lists = before
    })
  }
}

const NONE: ReadonlySet<string> = new Set()

/** What is read of the data of a call that describes tools. */
const DESCRIBED = z.object({ tools: z.array(z.object({ tool: z.string() })) })

function isDescribed({ tool, shown }: ToolCard, described: ReadonlySet<string>): boolean {
  return shown === 'later' && described.has(tool)
}

function build(cards: readonly ToolCard[]): Lists {
  const all = cards.map((card): Listed => {
    const modern = toTool(card)
    // Any call may be a task; in the legacy era each tool has to declare it.
    return { card, modern, legacy: { ...modern, execution: { taskSupport: 'optional' } } }
  })
  const listed = all.filter(({ card }) => card.shown === undefined)
  return {
    legacy: deepFreeze({ tools: listed.map(({ legacy }) => legacy) }),
    modern: deepFreeze({ tools: listed.map(({ modern }) => modern), ttlMs: TTL_MS, cacheScope: 'private' as const }),
    all,
    byName: new Map(all.map((each) => [each.modern.name, each])),
    json: JSON.stringify(all.map(({ modern, card: { shown } }) => [modern, shown])),
  }
}

function toTool(card: ToolCard): Tool {
  const { name, title, description, parameters, capabilities } = card
  return {
    name,
    title,
    description,
    inputSchema: { ...listSchema(parameters), type: 'object' },
    ...(card.output?.type === 'object' && { outputSchema: { ...listSchema(card.output), type: 'object' } }),
    annotations: annotationsOf(capabilities),
  }
}

/** Resolves also if a source fails, because its calls report the problem. */
function settled(hub: ServedHub, { readyTimeoutMs, clock }: { readyTimeoutMs: number; clock: Clock }): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(readyTimeoutMs, resolve, { background: true })
    const end = () => {
      cancel()
      resolve()
    }
    hub.ready({ all: true }).then(end, end)
  })
}

/** Hints for people, derived from the capabilities of a tool; policy does not use them. */
function annotationsOf(capabilities: readonly Capability[]): ToolAnnotations {
  const readOnlyHint = capabilities.every((capability) => ONLY_READS.has(capability))
  return {
    readOnlyHint,
    destructiveHint: capabilities.includes('danger:destructive'),
    ...(readOnlyHint && { idempotentHint: true }),
    openWorldHint: capabilities.some((capability) => REACHES_OUT.has(capability)),
  }
}

/** A copy of a schema as it goes into the list of tools. */
export function listSchema(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const keywords = Object.entries(schema).filter(([keyword]) => keyword !== HEADER_KEYWORD)
  return Object.fromEntries(keywords.map(([keyword, value]) => [keyword, listKeyword(keyword, value)]))
}

/** Only where schemas stand: a property may have any name, and a value be anything. */
function listKeyword(keyword: string, value: unknown): unknown {
  const form = FORMS.get(keyword)
  if (form === 'schema') return listAny(value)
  if (form === 'list' && Array.isArray(value)) return value.map(listAny)
  if (form !== 'map' || !isPlainObject(value)) return structuredClone(value)
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, listAny(part)]))
}

function listAny(schema: unknown): unknown {
  return isPlainObject(schema) ? listSchema(schema) : structuredClone(schema)
}
