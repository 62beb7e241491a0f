import type { ClientMessage } from '@tool-hub/core/protocol'
import type { LinkMessage, SocketLink } from './socket-link.ts'
import type { SocketRequests } from './socket-requests.ts'

/** A tool that this client executes. */
export interface OwnTool {
  /** `{ name, description, input, output }` with JSON Schemas, or `{ function: { name, description, parameters } }`. */
  readonly definition: Readonly<Record<string, unknown>>
  /**
   * Returns the data of the result; an error is sent to the caller. The signal aborts when the result is no longer
   * needed.
   */
  execute(input: unknown, options: { readonly callId: string; readonly signal: AbortSignal }): unknown
}

/** The result of a registration. */
export interface Registration {
  /** Names of the registered tools. */
  readonly tools: readonly string[]
  /** Tools that were refused, and why. */
  readonly refused: readonly { readonly name: string; readonly why: string }[]
}

type Answer = Extract<ClientMessage, { type: 'answer' }>

interface Registered {
  readonly definitions: Record<string, unknown>[]
  readonly tools: ReadonlyMap<string, OwnTool>
}

const MAX_ANSWERS = 100

/** The tools that this client executes over a link: each execution once, each answered until the server has the answer. */
export class SocketTools {
  readonly #link: SocketLink
  readonly #requests: SocketRequests
  readonly #registered = new Map<string, Registered>()
  readonly #running = new Map<string, AbortController>()
  /** The latest answers, oldest first: an execution that is sent again did not get its answer. */
  readonly #answers = new Map<string, Answer>()

  constructor(link: SocketLink, requests: SocketRequests) {
    this.#link = link
    this.#requests = requests
  }

  async register(name: string, tools: readonly OwnTool[]): Promise<Registration> {
    const known = new Map(tools.map((tool) => [nameOf(tool.definition), tool]))
    const registered = { definitions: tools.map(({ definition }) => definition), tools: known }
    if (tools.length > 0) this.#registered.set(name, registered)
    else this.#registered.delete(name)
    const message = { type: 'tools', id: this.#requests.nextId(), name, tools: registered.definitions } as const
    return (await this.#requests.ask(message)) as Registration
  }

  take(message: LinkMessage): boolean {
    if (message.type === 'execute') void this.#execute(message)
    if (message.type === 'abandon') this.#running.get(message.callId)?.abort(new Error(message.reason))
    return message.type === 'execute' || message.type === 'abandon'
  }

  /** Registers the tools again with a server that has forgotten this client. */
  startAnew(): void {
    this.stop('the server has forgotten this call')
    for (const [name, { definitions }] of this.#registered) this.#link.send({ type: 'tools', name, tools: definitions })
  }

  stop(why: string): void {
    for (const controller of this.#running.values()) controller.abort(new Error(why))
    this.#running.clear()
    this.#answers.clear()
  }

  async #execute({ callId, tool, input }: Extract<LinkMessage, { type: 'execute' }>): Promise<void> {
    const answer = this.#answers.get(callId)
    if (answer) this.#link.send(answer)
    if (answer || this.#running.has(callId)) return
    const controller = new AbortController()
    this.#running.set(callId, controller)
    const given = await this.#run(callId, tool, input, controller.signal)
    // It was aborted, and the server has forgotten it.
    if (this.#running.get(callId) !== controller) return
    this.#running.delete(callId)
    if (controller.signal.aborted) return
    this.#answers.set(callId, given)
    if (this.#answers.size > MAX_ANSWERS) this.#answers.delete(this.#answers.keys().next().value!)
    this.#link.send(given)
  }

  async #run(callId: string, name: string, input: unknown, signal: AbortSignal): Promise<Answer> {
    const tool = [...this.#registered.values()].find(({ tools }) => tools.has(name))?.tools.get(name)
    try {
      if (!tool) throw new Error(`This client has no tool ${name}.`)
      return { type: 'answer', callId, data: (await tool.execute(input, { callId, signal })) ?? null }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      return { type: 'answer', callId, error: { message: message.slice(0, 10_000) } }
    }
  }
}

function nameOf(definition: OwnTool['definition']): string {
  const { name, function: facts } = definition as { name?: unknown; function?: { name?: unknown } }
  return String(facts?.name ?? name)
}
