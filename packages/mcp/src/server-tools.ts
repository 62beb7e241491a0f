import { setImmediate } from 'node:timers/promises'
import { type AnyTool, type McpServer, messageOf, type SourceHost } from '@tool-hub/core'
import { escapeLine, sha256 } from '@tool-hub/core/lib'
import type { LeftOut, McpJsonObject, ServerToolDefinition } from './definitions.ts'
import { type Drift, describeDrift, shortHash } from './drift.ts'
import type { Pins } from './pins.ts'
import { isIgnoredTool, type ToolParts, toTool, UNCHECKED } from './to-tool.ts'

const PLAIN = /^[A-Za-z0-9_-]+$/

const MAX_LENGTH = 64

/** Enough characters that nobody finds a second name with the same hash. */
const HASH_CHARS = 16

/** A name that looks as if it had been changed. */
const LIKE_CHANGED = new RegExp(`-[0-9a-f]{${HASH_CHARS}}$`)

/** Options of `ServerTools`. */
export interface ServerToolsOptions {
  readonly name: string
  readonly server: McpServer
  /** Names of all servers of the source: a tool must not be mistaken for one of another server. */
  readonly names: readonly string[]
  readonly host: Pick<SourceHost, 'warn' | 'clock'>
  readonly pins: Pins
  readonly call: ToolParts['call']
}

/** A tool that models do not see until the owner accepts it. */
export interface PendingTool {
  /** Its name in the hub once it is accepted. */
  readonly name: string
  readonly definition: ServerToolDefinition
  /** Its definition, described for the owner. */
  readonly drift: string
}

/** What models see of a definition that differs from the pinned one, and why its calls ask. */
interface Doubted {
  readonly shown: ServerToolDefinition
  readonly doubt: string
}

/** Result of comparing the listed definitions with the pins, by the server's names. */
interface Comparison {
  readonly doubted: ReadonlyMap<string, Doubted>
  /** Tools that are not shown, and why. */
  readonly pending: ReadonlyMap<string, string>
  /** Tools that the owner can accept. */
  readonly acceptable: readonly string[]
}

interface ListedTool {
  readonly key: string
  readonly definition: ServerToolDefinition
  readonly tool: AnyTool | LeftOut
}

const MAX_REPORTED = 5
const SHOWN_NAME_CHARS = 80
/** How many tools may have schemas whose check does not end. */
const MAX_ENDLESS = 5

/** The tools of one server as a hub has them; a tool that does not change stays the same object. */
export class ServerTools {
  tools: readonly AnyTool[] = []
  leftOut: readonly LeftOut[] = []
  /** What changed in tools since they were first seen, by their names in the hub. */
  drifts: ReadonlyMap<string, string> = new Map()
  pending: readonly PendingTool[] = []
  /** What the owner can accept: tools that changed or are new, by the server's names. */
  acceptable: readonly string[] = []
  /** Whether the last listing could not be compared with the pins. */
  isUncompared = false
  readonly #options: ServerToolsOptions
  #made: ReadonlyMap<string, ListedTool> = new Map()
  /** What the last listing left out. */
  #reported: ReadonlySet<string> = new Set()

  constructor(options: ServerToolsOptions) {
    this.#options = options
  }

  /** The tools that are not as they were pinned, by their names in the hub. */
  get changed(): readonly string[] {
    return [...this.drifts.keys(), ...this.pending.map(({ name }) => name)]
  }

  /** Whether the server has a tool of this name (its own name, not the hub's). */
  has(tool: string): boolean {
    return this.#made.has(tool)
  }

  /** Whether this is the latest known definition of the tool. */
  holds({ tool, hash }: ServerToolDefinition): boolean {
    return this.#made.get(tool)?.definition.hash === hash
  }

  /**
   * Takes over what a server lists. Models see the pinned definition of each tool; a tool that differs from it is in
   * doubt.
   */
  async take(
    definitions: readonly ServerToolDefinition[],
    leftOut: readonly LeftOut[],
    signal: AbortSignal,
  ): Promise<void> {
    const { doubted, pending, acceptable } = await this.#compare(definitions)
    const share = shareSchemas()
    const made = new Map<string, ListedTool>()
    let endless = 0
    for (const definition of definitions) {
      if (pending.has(definition.tool)) continue
      const next =
        endless < MAX_ENDLESS
          ? await this.#make(definition, doubted.get(definition.tool), share)
          : this.#skip(definition)
      if (isIgnoredTool(next.tool) && next.tool.why.includes(UNCHECKED)) endless++
      made.set(definition.tool, next)
      // Making a tool compiles its schemas; this lets other work run in between.
      await setImmediate()
      signal.throwIfAborted()
    }
    this.#made = made
    this.acceptable = acceptable
    this.drifts = new Map([...doubted].map(([tool, { doubt }]) => [this.#nameOf(tool), doubt]))
    this.pending = definitions.flatMap((definition) => {
      const drift = pending.get(definition.tool)
      return drift === undefined ? [] : [{ name: this.#nameOf(definition.tool), definition, drift }]
    })
    const all = [...made.values()].map(({ tool }) => tool)
    this.tools = all.filter((tool): tool is AnyTool => !isIgnoredTool(tool))
    const { name } = this.#options
    const why = `it is new; look at it with: tool-hub mcp test ${name}; accept it with: tool-hub mcp pin ${name}`
    const waiting = this.pending.map(({ definition: { tool } }) => ({ tool: shownName(tool), why }))
    this.leftOut = [...leftOut, ...all.filter(isIgnoredTool)]
    this.#report([...this.leftOut, ...waiting])
  }

  /** Without pins nothing can be compared, and what cannot be compared is in doubt. */
  async #compare(definitions: readonly ServerToolDefinition[]): Promise<Comparison> {
    const { name, host, pins } = this.#options
    try {
      const { drifts, added, unpinned } = await pins.review(name, definitions, new Date(host.clock.now()))
      const doubted = new Map<string, Doubted>()
      const pending = new Map<string, string>()
      for (const definition of definitions) {
        const { tool } = definition
        const drift = drifts.get(tool) ?? added.get(tool)
        if (!drift && !unpinned.has(tool)) continue
        const doubt = await this.#doubt(definition, drift)
        if (drift && !drift.isNew) doubted.set(tool, { shown: drift.pinned ?? unknown(definition), doubt })
        else pending.set(tool, doubt)
      }
      this.isUncompared = false
      return { doubted, pending, acceptable: [...drifts.keys(), ...added.keys()] }
    } catch (error) {
      this.isUncompared = true
      host.warn(`MCP server ${name}: its definitions cannot be compared with those first seen: ${messageOf(error)}`)
      const doubted = definitions.map((each) => [each.tool, { shown: unknown(each), doubt: uncompared(each) }] as const)
      return { doubted: new Map(doubted), pending: new Map(), acceptable: [] }
    }
  }

  async #doubt(definition: ServerToolDefinition, drift: Drift | undefined): Promise<string> {
    const { name } = this.#options
    if (!drift) return `${uncompared(definition)}; to begin anew: tool-hub mcp pin ${name} --forget`
    return describeDrift(drift).catch(() => uncompared(definition))
  }

  async #make(
    definition: ServerToolDefinition,
    doubted: Doubted | undefined,
    share: ToolParts['share'],
  ): Promise<ListedTool> {
    const { name: serverName, server, call } = this.#options
    const key = JSON.stringify([definition, doubted])
    const known = this.#made.get(definition.tool)
    if (known?.key === key) return known
    const name = this.#nameOf(definition.tool)
    const { shown, doubt } = doubted ?? {}
    const tool = await toTool({ name, serverName, server, definition, shown, drift: doubt, share, call }).catch(
      (error: unknown): LeftOut => ({ tool: definition.tool, why: messageOf(error) }),
    )
    return { key, definition, tool }
  }

  /** A check that does not end is stopped but costs time; a server with many of them may do it on purpose. */
  #skip(definition: ServerToolDefinition): ListedTool {
    const why = `${MAX_ENDLESS} tools of its server before it ${UNCHECKED}`
    return { key: '', definition, tool: { tool: definition.tool, why } }
  }

  #nameOf(tool: string): string {
    return toToolName(this.#options.name, tool, this.#options.names)
  }

  #report(leftOut: readonly LeftOut[]): void {
    const { name, host } = this.#options
    const texts = leftOut.map(textOf)
    const news = texts.filter((text) => !this.#reported.has(text))
    for (const text of news.slice(0, MAX_REPORTED)) host.warn(`MCP server ${name}: ${text}`)
    if (news.length > MAX_REPORTED)
      host.warn(`MCP server ${name}: ${news.length - MAX_REPORTED} more tools are left out.`)
    this.#reported = new Set(texts)
  }
}

/** Includes the hash: an approval of one definition must never apply to another. */
function uncompared({ hash }: ServerToolDefinition): string {
  return `its definition cannot be compared with the one that was first seen (now ${shortHash(hash)})`
}

/** What models see of a tool whose pinned definition is not known: only that a tool of this name exists. */
function unknown(definition: ServerToolDefinition): ServerToolDefinition {
  return { ...definition, title: undefined, description: '', input: {}, output: undefined, annotations: {} }
}

/** Many tools of a server take the same arguments, or none. */
function shareSchemas(): ToolParts['share'] {
  const shared = new Map<string, McpJsonObject>()
  return (schema) => {
    const key = JSON.stringify(schema)
    const known = shared.get(key) ?? schema
    shared.set(key, known)
    return known
  }
}

function shownName(tool: string): string {
  return escapeLine(tool.slice(0, SHOWN_NAME_CHARS))
}

function textOf({ tool, why }: LeftOut): string {
  return `${tool} is left out: ${why}`
}

/**
 * The name of a server's tool in a hub, `mcp/<server>.<tool>`. It depends on nothing but the server, the tool and the
 * names of the other servers, so that it never comes to mean another tool. One that had to change, that reads as if it
 * had been, or that would read like a tool of another server on the wire (`b_c` of `a`, when there is a server `a_b`),
 * ends with a hash of the whole.
 */
export function toToolName(server: string, tool: string, servers: Iterable<string>): string {
  const prefix = `mcp/${server}.`
  const isPlain = PLAIN.test(tool) && !LIKE_CHANGED.test(tool) && prefix.length + tool.length <= MAX_LENGTH
  if (isPlain && !isAmbiguous(server, tool, servers)) return prefix + tool
  const room = MAX_LENGTH - prefix.length - HASH_CHARS - 1
  const readable = tool.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, room)
  return `${prefix}${readable}-${sha256(tool).slice(0, HASH_CHARS)}`
}

function isAmbiguous(server: string, tool: string, servers: Iterable<string>): boolean {
  const wire = `${server}_${tool}`
  for (const other of servers) {
    if (other.length > server.length && wire.startsWith(`${other}_`)) return true
  }
  return false
}
