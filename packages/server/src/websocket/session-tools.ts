import { type ClientConnection, connectClient } from '@tool-hub/adapters/sources/client-tools'
import {
  type ClientAnswer,
  type ClientCall,
  type ClientToolDefinition,
  type RefusedClientTool,
  ToolError,
} from '@tool-hub/core'
import type { ReadMessage } from './messages.ts'
import { requireAnyScope, type SessionPort } from './session-port.ts'

type AnswerMessage = Extract<ReadMessage, { type: 'answer' }>

/** Tools of a client, which `define` validates. */
interface Registration {
  readonly name: string
  readonly tools: readonly object[]
}

interface Registered {
  readonly connection: ClientConnection
  names: readonly string[]
}

interface Execution {
  readonly connection: ClientConnection
  readonly call: ClientCall
  /** Number of the message that sent it last. */
  seq: number
}

const MAX_NAMES = 16

/** The tools that a client executes, and the executions in progress. */
export class SessionTools {
  readonly #session: SessionPort
  readonly #registered = new Map<string, Registered>()
  readonly #executions = new Map<string, Execution>()

  constructor(session: SessionPort) {
    this.#session = session
  }

  get isEmpty(): boolean {
    return this.#registered.size === 0
  }

  /** Replaces the tools registered under this name. Returns those accepted and those refused. */
  async register({ name, tools }: Registration): Promise<{ tools: string[]; refused: readonly RefusedClientTool[] }> {
    requireAnyScope(this.#session.caller, 'call')
    const definitions = tools as readonly ClientToolDefinition[]
    const known = this.#registered.get(name) ?? this.#connect(name)
    const refused = known.connection.define(definitions)
    const names = definitions.map(nameOf).filter((name) => name !== undefined)
    known.connection.remove(...known.names.filter((old) => !names.includes(old)))
    known.names = names
    if (names.length === 0) await this.#disconnect(name)
    await this.#session.caller.hub.ready()
    const left = new Set(refused.map((tool) => tool.name))
    return { tools: names.filter((name) => !left.has(name)), refused }
  }

  /** Handles the client's answer to an execution; sends an error if it is not expected. */
  async answer({ type, callId, ...answer }: AnswerMessage): Promise<void> {
    const execution = this.#executions.get(callId)
    const connection = execution?.connection ?? this.#registered.values().next().value?.connection
    try {
      if (!connection) throw new ToolError('NOT_FOUND', 'This session has registered no tools.')
      this.#executions.delete(callId)
      await connection.answer(callId, answer as ClientAnswer)
      if (execution) this.#session.withdraw(execution.seq)
    } catch (thrown) {
      // An invalid answer does not count: the call still waits.
      const isWaiting = execution && ToolError.is(thrown) && thrown.code === 'INPUT_SCHEMA_INVALID'
      if (isWaiting) this.#executions.set(callId, execution)
      this.#session.complain(thrown)
    }
  }

  /**
   * After a reconnect, sends the executions again that the client has received and not answered. It answers each once.
   */
  resend(received: number): void {
    for (const execution of this.#executions.values()) {
      if (execution.seq <= received) execution.seq = this.#send(execution.call)
    }
  }

  async close(): Promise<void> {
    this.#executions.clear()
    await Promise.allSettled([...this.#registered.keys()].map((name) => this.#disconnect(name)))
  }

  #connect(name: string): Registered {
    if (this.#registered.size >= MAX_NAMES) {
      throw new ToolError('CONFIG_INVALID', `A session registers tools under ${MAX_NAMES} names at most.`)
    }
    const connection = connectClient(this.#session.caller.hub, { name })
    connection.onCall((call) => this.#execute(connection, call))
    const registered: Registered = { connection, names: [] }
    this.#registered.set(name, registered)
    return registered
  }

  async #disconnect(name: string): Promise<void> {
    const registered = this.#registered.get(name)
    if (!registered) return
    this.#registered.delete(name)
    for (const [callId, { connection }] of this.#executions) {
      if (connection === registered.connection) this.#abandon(callId, new ToolError('CLIENT_GONE', 'The tool is gone.'))
    }
    await registered.connection.close()
  }

  #execute(connection: ClientConnection, call: ClientCall): void {
    if (this.#session.isFull) throw new Error('it does not take what it is sent')
    const { callId, signal } = call
    this.#executions.set(callId, { connection, call, seq: this.#send(call) })
    signal.addEventListener('abort', () => this.#abandon(callId, signal.reason), { once: true })
  }

  #send({ callId, tool, input }: ClientCall): number {
    return this.#session.send({ type: 'execute', callId, tool, input })
  }

  #abandon(callId: string, reason: unknown): void {
    const execution = this.#executions.get(callId)
    if (!this.#executions.delete(callId)) return
    // An execution that was never sent need not be withdrawn.
    if (!this.#session.withdraw(execution!.seq)) return
    const why = ToolError.is(reason) ? reason.code : 'ABORTED'
    this.#session.send({ type: 'abandon', callId, reason: why })
  }
}

function nameOf(definition: ClientToolDefinition): string | undefined {
  const { name, function: facts } = definition as { name?: unknown; function?: { name?: unknown } }
  const found = facts?.name ?? name
  return typeof found === 'string' ? found : undefined
}
