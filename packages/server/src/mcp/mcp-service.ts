import type { Server, ServerOptions } from '@modelcontextprotocol/server'
import { type Clock, systemClock } from '@tool-hub/core'
import { VERSION } from '@tool-hub/core/lib'
import { RequestStates } from './elicitation/request-states.ts'
import type { Era, McpServeOptions, ServedHub } from './options.ts'
import { TASKS_EXTENSION } from './tasks.ts'
import { ToolList } from './tool-list.ts'

const READY_TIMEOUT_MS = 3_000
const TASK_AFTER_MS = 10_000
const DISCOVERY_TTL_MS = 60_000
const INSTRUCTIONS =
  'These tools are governed: the owner has rules for what they may do, and some calls wait for a person to allow them. ' +
  'When a call ends with POLICY_DENIED or APPROVAL_DENIED, do not try to get the same in another way: tell the user.'

/** What all clients of one hub share: tool list, options and sealed states. */
export class McpService {
  readonly hub: ServedHub
  readonly options: McpServeOptions
  readonly clock: Clock
  readonly tools: ToolList
  readonly states: RequestStates
  readonly info: { readonly name: string; readonly version: string }
  readonly serverOptions: Readonly<Record<Era, ServerOptions>>
  readonly taskAfterMs: number
  /** Connected servers, each with the session of its client; they are notified when the tools change. */
  readonly #connected = new Map<Server, object>()
  readonly #listeners = new Set<() => void>()
  readonly #stopListening: () => void

  constructor(hub: ServedHub, options: McpServeOptions) {
    const { clock = systemClock, dialect, readyTimeoutMs = READY_TIMEOUT_MS, name = 'tool-hub' } = options
    this.hub = hub
    this.options = options
    this.clock = clock
    this.states = new RequestStates(options.ownId?.(''))
    this.tools = new ToolList(hub, { dialect, readyTimeoutMs, clock })
    this.info = { name, version: VERSION }
    this.serverOptions = { legacy: serverOptions('legacy', options), modern: serverOptions('modern', options) }
    this.taskAfterMs = options.taskAfterMs ?? TASK_AFTER_MS
    this.#stopListening = this.tools.onChange(() => this.#emitChange())
  }

  /** Notifies a server of changes while it is connected. Returns a function that stops it. */
  connected(server: Server, session: object): () => void {
    this.#connected.set(server, session)
    return () => this.#connected.delete(server)
  }

  readonly report = (error: unknown): void => {
    this.options.onError?.(error instanceof Error ? error : new Error(String(error)))
  }

  /** Calls the listener when the list of some client has changed, besides changes of the tools. */
  onListChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /** Notifies the client of a session that its list has changed. */
  emitListChange(session: object): void {
    for (const [server, own] of this.#connected) if (own === session) this.#notify(server)
    for (const listener of this.#listeners) listener()
  }

  close(): void {
    this.#stopListening()
    this.tools.close()
  }

  #emitChange(): void {
    for (const server of this.#connected.keys()) this.#notify(server)
  }

  #notify(server: Server): void {
    // A client that has not initialized the connection has no list yet.
    if (server.getNegotiatedProtocolVersion() === undefined) return
    server.sendToolListChanged().catch(this.report)
  }
}

function serverOptions(era: Era, { instructions = INSTRUCTIONS }: McpServeOptions): ServerOptions {
  const tasks = { list: {}, cancel: {}, requests: { tools: { call: {} } } }
  return {
    capabilities: {
      tools: { listChanged: true },
      resources: {},
      ...(era === 'legacy' ? { tasks } : { extensions: { [TASKS_EXTENSION]: {} } }),
    },
    ...(instructions !== '' && { instructions }),
    ...(era === 'modern' && { cacheHints: { 'server/discover': { ttlMs: DISCOVERY_TTL_MS, cacheScope: 'private' } } }),
  }
}
