import { setImmediate } from 'node:timers/promises'
import type { AnyTool } from '../../define.ts'
import { messageOf } from '../../errors.ts'
import type { McpServer } from '../../options.ts'
import type { SourceHost } from '../../source.ts'
import type { Definition, JsonObject, LeftOut } from './definition.ts'
import { type Drift, describeDrift, shortHash } from './describe-drift.ts'
import type { Pins } from './pins.ts'
import { isLeftOut, type ToolParts, toTool, UNCHECKED } from './to-tool.ts'
import { toToolName } from './tool-name.ts'

/** What the tools of a server are made with. */
export interface ServerToolsOptions {
  readonly name: string
  readonly server: McpServer
  /** All servers of the source, for names that must not be taken for one of another's tools. */
  readonly names: readonly string[]
  readonly host: Pick<SourceHost, 'warn' | 'clock'>
  readonly pins: Pins
  readonly call: ToolParts['call']
}

interface Made {
  readonly key: string
  readonly definition: Definition
  readonly tool: AnyTool | LeftOut
}

const MOST_TOLD = 5
/** Tools whose schemas cannot be checked in any time. */
const MOST_ENDLESS = 5

/** The tools of one server as a hub has them; one that stays the same stays the same object. */
export class ServerTools {
  tools: readonly AnyTool[] = []
  leftOut: readonly LeftOut[] = []
  /** What changed in tools since they were first seen, by their names in the hub. */
  drifts: ReadonlyMap<string, string> = new Map()
  readonly #options: ServerToolsOptions
  #made: ReadonlyMap<string, Made> = new Map()

  constructor(options: ServerToolsOptions) {
    this.#options = options
  }

  /** By the server's own name for it. */
  has(tool: string): boolean {
    return this.#made.has(tool)
  }

  /** Whether a definition is what the server says of the tool now, as far as is known. */
  holds({ tool, hash }: Definition): boolean {
    return this.#made.get(tool)?.definition.hash === hash
  }

  /** Takes what a server lists, with a doubt for each tool that is not as it was first seen. */
  async take(definitions: readonly Definition[], leftOut: readonly LeftOut[], signal: AbortSignal): Promise<void> {
    const drifts = await this.#review(definitions)
    const share = shareSchemas()
    const made = new Map<string, Made>()
    let endless = 0
    for (const definition of definitions) {
      const next =
        endless < MOST_ENDLESS
          ? await this.#make(definition, drifts.get(definition.tool), share)
          : this.#skip(definition)
      if (isLeftOut(next.tool) && next.tool.why.includes(UNCHECKED)) endless++
      made.set(definition.tool, next)
      // To make a tool compiles its schemas; everybody else has their turn in between.
      await setImmediate()
      signal.throwIfAborted()
    }
    this.#made = made
    this.drifts = new Map([...drifts].map(([tool, drift]) => [this.#nameOf(tool), drift]))
    const all = [...made.values()].map(({ tool }) => tool)
    this.tools = all.filter((tool): tool is AnyTool => !isLeftOut(tool))
    this.#tell([...leftOut, ...all.filter(isLeftOut)])
  }

  /** What is said of every tool that changed. Without pins nothing can be compared, and what cannot be compared is doubted. */
  async #review(definitions: readonly Definition[]): Promise<ReadonlyMap<string, string>> {
    const { name, host, pins } = this.#options
    try {
      const { drifts, unpinned } = pins.review(name, definitions, new Date(host.clock.now()))
      const doubtful = definitions.filter(({ tool }) => drifts.has(tool) || unpinned.has(tool))
      const doubts = doubtful.map(async (each) => [each.tool, await this.#doubt(each, drifts.get(each.tool))] as const)
      return new Map(await Promise.all(doubts))
    } catch (error) {
      host.warn(`MCP server ${name}: its definitions cannot be compared with those first seen: ${messageOf(error)}`)
      return new Map(definitions.map((each) => [each.tool, uncompared(each)]))
    }
  }

  async #doubt(definition: Definition, drift: Drift | undefined): Promise<string> {
    const { name } = this.#options
    if (!drift) return `${uncompared(definition)}; to begin anew: tool-hub mcp pin ${name} --forget`
    return describeDrift(drift).catch(() => uncompared(definition))
  }

  async #make(definition: Definition, drift: string | undefined, share: ToolParts['share']): Promise<Made> {
    const { name: serverName, server, call } = this.#options
    const key = JSON.stringify([definition, drift])
    const known = this.#made.get(definition.tool)
    if (known?.key === key) return known
    const name = this.#nameOf(definition.tool)
    const tool = await toTool({ name, serverName, server, definition, drift, share, call }).catch(
      (error: unknown): LeftOut => ({ tool: definition.tool, why: messageOf(error) }),
    )
    return { key, definition, tool }
  }

  /** A check that does not come to an end is stopped, but costs time; a server that has many wants to take it. */
  #skip(definition: Definition): Made {
    const why = `${MOST_ENDLESS} tools of its server before it ${UNCHECKED}`
    return { key: '', definition, tool: { tool: definition.tool, why } }
  }

  #nameOf(tool: string): string {
    return toToolName(this.#options.name, tool, this.#options.names)
  }

  #tell(leftOut: readonly LeftOut[]): void {
    const { name, host } = this.#options
    const told = new Set(this.leftOut.map(textOf))
    const news = leftOut.map(textOf).filter((text) => !told.has(text))
    for (const text of news.slice(0, MOST_TOLD)) host.warn(`MCP server ${name}: ${text}`)
    if (news.length > MOST_TOLD) host.warn(`MCP server ${name}: ${news.length - MOST_TOLD} more tools are left out.`)
    this.leftOut = leftOut
  }
}

/** With its hash: a yes to one definition must never be a yes to another. */
function uncompared({ hash }: Definition): string {
  return `its definition cannot be compared with the one that was first seen (now ${shortHash(hash)})`
}

/** Many tools of a server take the same arguments, or none. */
function shareSchemas(): ToolParts['share'] {
  const shared = new Map<string, JsonObject>()
  return (schema) => {
    const key = JSON.stringify(schema)
    const known = shared.get(key) ?? schema
    shared.set(key, known)
    return known
  }
}

function textOf({ tool, why }: LeftOut): string {
  return `${tool} is left out: ${why}`
}
