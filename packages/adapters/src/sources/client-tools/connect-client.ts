import {
  type AnyTool,
  type BaseContext,
  type CallOptions,
  type ClientAnswer,
  type ClientCall,
  type ClientToolDefinition,
  defineTool,
  messageOf,
  type RefusedClientTool,
  type SourceHost,
  ToolError,
  type ToolResult,
  toWireName,
} from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'
import type { Hub } from '@tool-hub/runtime/hub'
import type { CallListener } from './pending-calls.ts'
import { PendingCalls } from './pending-calls.ts'
import { type ReadDefinition, readDefinition, showClientAnswer } from './read-client.ts'

/**
 * Connects a client that executes its own tools. The tools are governed like all others; a call is passed to the
 * client, and its one answer ends the call. Independent of any transport: the caller transports calls and answers.
 * @example
 * const editorClient = connectClient(hub, { name: 'editor', tools: [{ function: { name: 'open_file', description: 'Open a file in the editor.', parameters } }] })
 * editorClient.onCall(async ({ callId, input }) => editorClient.answer(callId, { data: await editor.open(input) }))
 */
export function connectClient(
  hub: Pick<Hub, 'connect' | 'callDynamic' | 'registry' | 'run'>,
  options: ClientConnectionOptions,
): ClientConnection {
  return new ClientConnection(hub, options)
}

/** Options of `connectClient`. */
export interface ClientConnectionOptions {
  /** Identifies the client in targets, `client:<name>/<tool>`, and in records. */
  readonly name: string
  /** Tools that the client executes; `define` adds more. Default: none. */
  readonly tools?: readonly ClientToolDefinition[]
  /** How long a call waits for its answer. Default: 60 s. */
  readonly timeoutMs?: number
  /** Session of the calls that the client makes itself. */
  readonly session?: string
}

interface Defined {
  readonly tool: AnyTool
  /** The definition as text, for comparison. */
  readonly key: string
  /**
   * Number of open calls that brought the tool along; it is removed with the last one, unless the client defined it.
   */
  guests: number
  isKept: boolean
}

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/
const MAX_TOOLS = 256
const TIMEOUT_MS = 60_000

/** A client that executes its own tools; created by `connectClient`. */
export class ClientConnection {
  /** The name in targets and records. */
  readonly name: string
  /** Tools of `connectClient` that were refused. */
  readonly refused: readonly RefusedClientTool[]
  readonly #hub: Pick<Hub, 'connect' | 'callDynamic' | 'registry' | 'run'>
  readonly #options: ClientConnectionOptions
  readonly #tools = new Map<string, Defined>()
  readonly #pending: PendingCalls
  readonly #disconnect: () => Promise<void>
  #host: SourceHost | undefined

  constructor(hub: Pick<Hub, 'connect' | 'callDynamic' | 'registry' | 'run'>, options: ClientConnectionOptions) {
    if (!NAME.test(options.name)) throw badName(options.name)
    this.name = options.name
    this.#hub = hub
    this.#options = options
    this.#pending = new PendingCalls(hub, options.name)
    this.#disconnect = hub.connect({
      name: `client ${options.name}`,
      start: (host) => {
        this.#host = host
        this.#pending.open(host)
        this.#offer()
      },
      close: () => this.#pending.close(),
    })
    this.refused = this.define(options.tools ?? [])
  }

  /** Adds tools, or replaces those of the same name. Returns which were refused. */
  define(definitions: ClientToolDefinition | readonly ClientToolDefinition[]): RefusedClientTool[] {
    const refused: RefusedClientTool[] = []
    for (const definition of [definitions].flat() as ClientToolDefinition[]) {
      try {
        const defined = this.#read(definition)
        const { guests = 0 } = this.#tools.get(defined.tool.name) ?? {}
        this.#tools.set(defined.tool.name, { ...defined, guests, isKept: true })
      } catch (error) {
        refused.push({ name: nameOf(definition), why: messageOf(error) })
      }
    }
    refused.push(...this.#offer())
    if (refused.length > 0) this.#host?.warn(describeRefused(this.name, refused))
    return refused
  }

  /** Removes tools; pending calls of them continue. */
  remove(...names: readonly string[]): void {
    for (const name of names) this.#tools.delete(name)
    this.#offer()
  }

  /** Calls a tool that is defined with the call and exists only as long as the call. */
  async call(definition: ClientToolDefinition, input: unknown, options: CallOptions = {}): Promise<ToolResult> {
    const { tool } = this.#admit(definition)
    const { session = this.#options.session } = options
    try {
      return await this.#hub.callDynamic(tool.name, input, { ...options, session })
    } finally {
      this.#dismiss(tool)
    }
  }

  /** Passes every call to a listener, in the order in which they became pending. Returns a function that stops it. */
  onCall(listener: CallListener): () => void {
    return this.#pending.listen(listener)
  }

  /** Yields the calls one by one; ends with the connection. */
  calls(): AsyncGenerator<ClientCall, void> {
    return this.#pending.iterate()
  }

  /** Ends a call with the client's answer. Rejects, and records it, if no answer is expected. */
  answer(callId: string, answer: ClientAnswer): Promise<void> {
    return this.#pending.answer(callId, answer)
  }

  /** Disconnects the client: removes its tools and ends every pending call with CLIENT_GONE. */
  close(): Promise<void> {
    return this.#disconnect()
  }

  #read(definition: ClientToolDefinition): Pick<Defined, 'tool' | 'key'> {
    this.#pending.assertOpen()
    const facts = readDefinition(definition)
    const present = this.#tools.get(facts.name)
    if (!present) this.#assertFree(facts.name)
    const key = JSON.stringify(definition)
    return present?.key === key ? present : { key, tool: this.#toolOf(facts) }
  }

  #assertFree(name: string): void {
    if (this.#tools.size >= MAX_TOOLS) {
      throw new ToolError('CONFIG_INVALID', `The client ${this.name} has ${MAX_TOOLS} tools, which is the limit.`)
    }
    // Includes names of built-in tools in other dialects: only the owner may take those.
    const { registry } = this.#hub
    const owner = registry.get(name) ?? registry.get(toWireName(name))
    if (!owner) return
    throw new ToolError('CONFIG_INVALID', `The name ${name} is taken by the tool ${owner.name}.`, {
      hint: 'Give the tool another name.',
    })
  }

  #toolOf({ name, title, description, input, output, timeoutMs }: ReadDefinition): AnyTool {
    const { timeoutMs: usualMs = TIMEOUT_MS } = this.#options
    return defineTool({
      kind: 'client',
      name,
      title,
      description,
      input,
      output,
      capabilities: ['remote'],
      targets: () => ({ remote: `client:${this.name}/${name}` }),
      timeoutMs: timeoutMs ?? usualMs,
      group: 'client',
      execute: (given: unknown, ctx: BaseContext) => this.#pending.delegate(name, given, ctx, output !== undefined),
      toModel: output === undefined ? showClientAnswer : undefined,
    }) as AnyTool
  }

  /** Removes tools that the hub refuses. */
  #offer(): RefusedClientTool[] {
    const refused = this.#host?.offer([...this.#tools.values()].map(({ tool }) => tool)) ?? []
    for (const { name } of refused) this.#tools.delete(name)
    return [...refused]
  }

  #admit(definition: ClientToolDefinition): Defined {
    const { tool, key } = this.#read(definition)
    const present = this.#tools.get(tool.name)
    if (present && present.key !== key) throw definedOtherwise(tool.name)
    const defined = present ?? { tool, key, guests: 0, isKept: false }
    defined.guests++
    if (present) return present
    this.#tools.set(tool.name, defined)
    const refused = this.#offer().find(({ name }) => name === tool.name)
    if (refused) throw new ToolError('CONFIG_INVALID', refused.why)
    return defined
  }

  #dismiss({ name }: AnyTool): void {
    const defined = this.#tools.get(name)
    if (!defined || --defined.guests > 0 || defined.isKept) return
    this.remove(name)
  }
}

function nameOf(definition: ClientToolDefinition): string {
  const { name, function: facts } = (definition ?? {}) as { name?: unknown; function?: { name?: unknown } }
  return escapeLine(String(name ?? facts?.name ?? 'a tool without a name').slice(0, 64))
}

function describeRefused(client: string, refused: readonly RefusedClientTool[]): string {
  const [{ name, why }] = refused as [RefusedClientTool]
  const others = refused.length > 1 ? ` (and ${refused.length - 1} more)` : ''
  return `The client ${client} cannot bring ${name}${others}: ${escapeLine(why.slice(0, 500))}`
}

function badName(name: unknown): ToolError {
  return new ToolError('CONFIG_INVALID', `Invalid client name ${JSON.stringify(name)}.`, {
    hint: 'Use letters, digits, _ and -, beginning with a letter, at most 64.',
  })
}

function definedOtherwise(name: string): ToolError {
  return new ToolError('CONFLICT', `The client has another tool named ${name}.`, {
    hint: 'Give the one that comes with the call another name, or define it anew.',
  })
}
