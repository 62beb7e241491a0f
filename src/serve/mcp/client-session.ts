import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { callerGone } from '../../caller-gone.ts'
import { ToolError } from '../../errors.ts'
import { newRunId } from '../../hub/new-run-id.ts'
import { HeldCalls } from './call/held-calls.ts'
import { type CallHome, type CallStart, OngoingCall } from './call/ongoing-call.ts'
import { SessionArtifacts } from './call/session-artifacts.ts'
import type { McpService } from './mcp-service.ts'
import { SessionTasks } from './tasks/session-tasks.ts'

/** Whose a session is. */
export interface SessionOwner {
  readonly principal?: string
  readonly knownName?: string
  /** Whether its client is asked what policy and tools ask, unless the options say; true unless said. */
  readonly asksClient?: boolean
}

const MOST_CALLS = 1_000

/**
 * What belongs to one client: a connection over stdio, a session over HTTP, or in the modern era, which has none, one who
 * calls. It has a run of its own, and with it a budget, records and remembered answers.
 */
export class ClientSession {
  readonly service: McpService
  readonly run: string
  /** Whom its sealed states and sessions belong to. */
  readonly principal: string
  /** Its name, where we know it better than from itself. */
  readonly knownName: string | undefined
  /** Whether its client is asked anything. */
  readonly asksClient: boolean
  readonly artifacts: SessionArtifacts
  readonly held: HeldCalls
  readonly tasks: SessionTasks
  readonly #home: CallHome
  readonly #calls = new Set<OngoingCall>()
  #ending: Promise<void> | undefined

  constructor(service: McpService, { principal, knownName, asksClient = true }: SessionOwner = {}) {
    const { hub, clock, options } = service
    this.service = service
    this.run = newRunId(clock, 'mcp')
    this.principal = principal ?? this.run
    this.knownName = knownName
    const asks = options.elicitation ?? asksClient
    this.asksClient = asks !== false
    this.#home = {
      hub,
      run: this.run,
      asksApprovals: asks === true,
      forms: new Map(),
      onEnd: (call) => void this.#calls.delete(call),
    }
    this.artifacts = new SessionArtifacts(hub, this.run)
    this.held = new HeldCalls(clock)
    this.tasks = new SessionTasks(clock)
  }

  get isBusy(): boolean {
    return this.#calls.size > 0
  }

  start(start: CallStart): OngoingCall {
    if (this.#ending) throw new ToolError('ABORTED', 'The session has ended.')
    if (this.#calls.size >= MOST_CALLS) throw tooMany()
    const call = new OngoingCall(this.#home, start)
    this.#calls.add(call)
    return call
  }

  /** Resolves when no call is under way. */
  async whenIdle(): Promise<void> {
    await Promise.allSettled([...this.#calls].map(({ ended }) => ended))
  }

  /** Stops its calls, those that a request stops being stopped already, and closes its run. */
  end(): Promise<void> {
    this.#ending ??= this.#end()
    return this.#ending
  }

  async #end(): Promise<void> {
    this.held.clear()
    this.tasks.clear()
    for (const call of this.#calls) call.abort(callerGone('The client is gone.'))
    await this.whenIdle()
    await this.service.hub.endRun(this.run)
  }
}

function tooMany(): ProtocolError {
  const message = `This session has ${MOST_CALLS} calls under way and takes no more.`
  return new ProtocolError(ProtocolErrorCode.InternalError, message)
}
