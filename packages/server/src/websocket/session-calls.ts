import { type CallEvent, type CallOptions, callerGone, ToolError } from '@tool-hub/core'
import { hasKey } from '@tool-hub/core/protocol'
import type { CallMessage } from './messages.ts'
import { type Numbered, requireAnyScope, type SessionPort, toWireError } from './session-port.ts'

const MAX_OF_A_GENERATION = 5_000

/** The latest answered ids of a session, at least 5,000, each with the number of its response. */
export class SeenIds {
  #recent: Map<string, number> | undefined
  #older: Map<string, number> | undefined

  find(id: string): number | undefined {
    return this.#recent?.get(id) ?? this.#older?.get(id)
  }

  /** Two generations, because removing the oldest entry for every new one is slow. */
  add(id: string, seq: number): void {
    this.#recent ??= new Map()
    if (this.#recent.size >= MAX_OF_A_GENERATION) {
      this.#older = this.#recent
      this.#recent = new Map()
    }
    this.#recent.set(id, seq)
  }
}

interface UnderWay {
  readonly controller?: AbortController
  /** Repeated with the same key it returns the same result, so it continues without its client. */
  readonly survivesClient?: boolean
}

/** The requests of a session: each id runs once and has one end. */
export class SessionCalls {
  readonly #session: SessionPort
  readonly #most: number
  readonly #underWay = new Map<string, UnderWay>()
  readonly #seen = new SeenIds()
  /** Calls that wait until the client has acknowledged some results. */
  #held: CallMessage[] = []
  /** Reused after calls have ended, because creating one costs as much as the rest of a call. */
  readonly #idle: AbortController[] = []
  #whenIdle: (() => void) | undefined

  constructor(session: SessionPort, most: number) {
    this.#session = session
    this.#most = most
  }

  get size(): number {
    return this.#underWay.size
  }

  start(call: CallMessage): void {
    const { id } = call
    if (this.#isKnown(id)) return
    try {
      requireAnyScope(this.#session.caller, 'call')
      if (this.#underWay.size >= this.#most) throw tooMany(this.#most)
    } catch (error) {
      this.#session.complain(error, id)
      return
    }
    const controller = this.#idle.pop() ?? new AbortController()
    this.#underWay.set(id, { controller, survivesClient: hasKey(call) })
    if (this.#session.isFull) this.#held.push(call)
    else void this.#run(call)
  }

  /** Starts held calls after the client has acknowledged results. */
  startHeld(): void {
    while (this.#held.length > 0 && !this.#session.isFull) void this.#run(this.#held.shift()!)
  }

  /** Runs a request other than a call. */
  perform(id: string, work: () => Promise<unknown>): void {
    if (this.#isKnown(id)) return
    const mayBegin = !this.#session.isFull && this.#underWay.size < this.#most
    if (mayBegin) void this.#settle(id, work)
    else this.#session.complain(tooMany(this.#most), id)
  }

  cancel(id: string): void {
    const controller = this.#underWay.get(id)?.controller
    if (controller) {
      controller.abort(new ToolError('ABORTED', 'The client cancelled the call.'))
      const held = this.#held.findIndex((call) => call.id === id)
      if (held >= 0) void this.#run(this.#held.splice(held, 1)[0]!)
      return
    }
    if (this.#isKnown(id)) return
    this.#session.complain(
      new ToolError('NOT_FOUND', `Call ${JSON.stringify(id)} not found, so it cannot be cancelled.`),
      id,
    )
  }

  /** Aborts the calls whose results nobody can get; calls with an idempotency key continue. */
  abort(): void {
    this.#held = []
    const gone = callerGone('The client went away and did not come back.')
    for (const { controller, survivesClient } of this.#underWay.values()) if (!survivesClient) controller?.abort(gone)
  }

  /** Resolves when nothing is in progress. */
  async idle(): Promise<void> {
    if (this.#underWay.size === this.#held.length) return
    await new Promise<void>((resolve) => (this.#whenIdle = resolve))
  }

  async #run(call: CallMessage): Promise<void> {
    const { id, tool, input } = call
    try {
      const options = this.#optionsOf(call, this.#underWay.get(id)!.controller!.signal)
      const result = await this.#session.call(tool, input, options)
      this.#end(id, { type: 'result', id, result })
    } catch (error) {
      this.#fail(id, error)
    }
  }

  async #settle(id: string, work: () => Promise<unknown>): Promise<void> {
    this.#underWay.set(id, NO_CALL)
    try {
      this.#end(id, { type: 'done', id, outcome: await work() })
    } catch (error) {
      this.#fail(id, error)
    }
  }

  #end(id: string, message: Numbered): void {
    this.#seen.add(id, this.#session.send(message))
    this.#forget(id)
  }

  /** An error is an end, too, because the call may have had effects. */
  #fail(id: string, error: unknown): void {
    this.#end(id, { type: 'error', id, error: toWireError(error) })
  }

  #forget(id: string): void {
    const controller = this.#underWay.get(id)?.controller
    this.#underWay.delete(id)
    if (controller && !controller.signal.aborted && this.#idle.length < MAX_IDLE) this.#idle.push(controller)
    if (this.#whenIdle && this.#underWay.size === this.#held.length) this.#whenIdle()
  }

  /** A known id is a repeated request: its response is on its way, or is sent again. */
  #isKnown(id: string): boolean {
    if (this.#underWay.has(id)) return true
    const seq = this.#seen.find(id)
    if (seq === undefined) return false
    if (!this.#session.sendAgain(seq)) this.#session.complain(answered(id), id)
    return true
  }

  #optionsOf(call: CallMessage, signal: AbortSignal): CallOptions {
    const { run, session, purpose, timeoutMs, userText, dryRun, onAsk } = call
    const { idempotencyKey, repeatKey, requestId, taskId, goalId } = call
    const onEvent = call.stream ? (event: CallEvent) => this.#send(call.id, event) : undefined
    return {
      run,
      session,
      purpose,
      timeoutMs,
      idempotencyKey,
      repeatKey,
      requestId,
      taskId,
      goalId,
      userText,
      dryRun,
      onAsk,
      signal,
      onEvent,
    }
  }

  /** The end is sent as the result. */
  #send(id: string, event: CallEvent): void {
    if (event.type !== 'call-ended') this.#session.send({ type: 'progress', id, event }, { mayDrop: true })
  }
}

const MAX_IDLE = 64
const NO_CALL: UnderWay = {}

function tooMany(most: number): ToolError {
  return new ToolError('RATE_LIMITED', `This session has ${most} calls under way or not acknowledged.`, {
    hint: 'Wait for results, and say received, before you send more.',
  })
}

function answered(id: string): ToolError {
  return new ToolError('CONFLICT', `The call ${JSON.stringify(id)} has its answer, which you said has come.`, {
    hint: 'Give every call an id of its own.',
  })
}
