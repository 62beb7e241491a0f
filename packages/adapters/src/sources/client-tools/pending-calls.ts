import {
  type BaseContext,
  type ClientAnswer,
  type ClientCall,
  type ErrorCode,
  messageOf,
  type SourceHost,
  ToolError,
} from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'
import type { Hub } from '@tool-hub/runtime/hub'
import { type ReadAnswer, readClientAnswer } from './read-client.ts'

const MAX_ENDED = 10_000

/** The calls that clients of one hub received: distinguishes a wrong answer from a late one, for the record. */
class AnswerHistory {
  readonly #waiting = new Map<string, HistoryCall>()
  /** The most recent ones, oldest first. */
  readonly #ended = new Map<string, HistoryCall>()

  open(callId: string, call: HistoryCall): void {
    this.#waiting.set(callId, call)
  }

  end(callId: string, end: string): void {
    const call = this.#waiting.get(callId)
    if (!call) return
    this.#waiting.delete(callId)
    this.#ended.set(callId, { ...call, end })
    if (this.#ended.size > MAX_ENDED) this.#ended.delete(this.#ended.keys().next().value!)
  }

  find(callId: string): HistoryCall | undefined {
    return this.#waiting.get(callId) ?? this.#ended.get(callId)
  }
}

const histories = new WeakMap<object, AnswerHistory>()

interface Pending {
  readonly hasOutput: boolean
  /** Ends the call; the text says why a later answer is not accepted. */
  settle(outcome: ReadAnswer | ToolError, end: string): void
}

interface Refusal {
  readonly code: ErrorCode
  readonly message: string
  readonly reason: string
  readonly tool: string
  readonly run: string
}

const MAX_PENDING = 1_000
const MAX_REFUSALS_ON_RECORD = 1_000
const MESSAGE = 'Tool execution delegated to client'

/** The pending calls of one client: passed on in order, each ended by exactly one answer, or without one. */
export class PendingCalls {
  readonly #client: string
  readonly #defaultRun: string
  readonly #history: AnswerHistory
  readonly #queue = new CallQueue()
  readonly #pending = new Map<string, Pending>()
  #host: SourceHost | undefined
  #isClosed = false
  #refusals = 0

  constructor(hub: Pick<Hub, 'run'>, client: string) {
    this.#client = client
    this.#defaultRun = hub.run
    this.#history = answerHistoryOf(hub)
  }

  open(host: SourceHost): void {
    this.#host = host
  }

  assertOpen(): void {
    if (this.#isClosed) throw new ToolError('CLIENT_GONE', `The client ${this.#client} went away.`)
  }

  /** Passes a call to the client and waits for its answer. */
  delegate(tool: string, input: unknown, ctx: BaseContext, hasOutput: boolean): Promise<unknown> {
    const { callId, run, signal } = ctx
    this.assertOpen()
    if (this.#pending.size >= MAX_PENDING) throw this.#busy()
    ctx.pending(MESSAGE)
    this.#history.open(callId, { tool, run, owner: this })
    const answered = new Promise<unknown>((resolve, reject) => {
      const stop = () => settle(signal.reason, `late: the call ended with ${codeOf(signal.reason)}`)
      const settle = (outcome: ReadAnswer | ToolError, end: string) => {
        if (!this.#pending.delete(callId)) return
        signal.removeEventListener('abort', stop)
        this.#history.end(callId, end)
        if ('type' in outcome && outcome.type === 'data') resolve(outcome.data)
        else reject('type' in outcome ? this.#failed(tool, outcome.message) : outcome)
      }
      this.#pending.set(callId, { hasOutput, settle })
      signal.addEventListener('abort', stop, { once: true })
      if (signal.aborted) stop()
    })
    this.#queue.push({ callId, run, tool, input, signal })
    return answered
  }

  /** Accepts the one answer of a call; any other is refused and recorded. */
  async answer(callId: string, given: ClientAnswer): Promise<void> {
    const refusal = this.#whyNot(callId)
    if (refusal) return this.#refuse(String(callId).slice(0, 64), refusal)
    const pending = this.#pending.get(callId)!
    pending.settle(readClientAnswer(given, pending), 'it is answered already')
  }

  listen(listener: CallListener): () => void {
    return this.#queue.listen((call) => void this.#notify(listener, call))
  }

  iterate(): AsyncGenerator<ClientCall, void> {
    return this.#queue.iterate()
  }

  close(): void {
    this.#isClosed = true
    const gone = () => new ToolError('CLIENT_GONE', `The client ${this.#client} went away before it answered.`)
    for (const { settle } of this.#pending.values()) settle(gone(), 'late: the client was gone')
    this.#queue.close()
  }

  /** A listener that throws has not done the work: its call ends, unless it was already answered. */
  async #notify(listener: CallListener, call: ClientCall): Promise<void> {
    try {
      await listener(call)
    } catch (error) {
      const message = `its listener failed: ${escapeLine(messageOf(error).slice(0, 500))}`
      this.#pending.get(call.callId)?.settle({ type: 'error', message }, 'late: the listener of the client had failed')
    }
  }

  #whyNot(callId: string): Refusal | undefined {
    const known = this.#history.find(callId)
    const shown = JSON.stringify(String(callId).slice(0, 64))
    if (!known) {
      const message = `No call ${shown} waits for an answer.`
      return { code: 'NOT_FOUND', message, reason: 'no such call', tool: 'unknown', run: this.#defaultRun }
    }
    const { tool, run, owner, end } = known
    if (owner !== this) {
      const message = `The call ${shown} waits for another client.`
      return { code: 'NOT_FOUND', message, reason: 'it is a call of another client', tool, run }
    }
    if (end === undefined) return undefined
    return { code: 'CONFLICT', message: `The call ${shown} takes no answer: ${end}.`, reason: end, tool, run }
  }

  /** A client could send wrong answers without end, so only the first ones are recorded. */
  async #refuse(callId: string, { code, message, reason, tool, run }: Refusal): Promise<never> {
    this.#refusals++
    if (this.#refusals <= MAX_REFUSALS_ON_RECORD) {
      await this.#host?.refuseAnswer(run, { callId, tool, by: `client:${this.#client}`, reason })
    }
    if (this.#refusals === MAX_REFUSALS_ON_RECORD) {
      this.#host?.warn(
        `The client ${this.#client} gave ${this.#refusals} answers that were not wanted; no more are recorded.`,
      )
    }
    throw new ToolError(code, message, { hint: 'Answer each call once, while its signal is not aborted.' })
  }

  #failed(tool: string, message: string): ToolError {
    return new ToolError('UPSTREAM_ERROR', `${tool} failed at the client ${this.#client}: ${message}`, {
      hint: 'Do what the message says, or use another tool.',
      retryable: false,
    })
  }

  #busy(): ToolError {
    const message = `The client ${this.#client} has ${MAX_PENDING} calls to answer, which is the limit.`
    return new ToolError('RATE_LIMITED', message, { hint: 'Wait until it has answered some.' })
  }
}

function codeOf(reason: unknown): string {
  return ToolError.is(reason) ? reason.code : 'ABORTED'
}

/** A call that a client received. */
interface HistoryCall {
  readonly tool: string
  readonly run: string
  /** The connection that may answer it. */
  readonly owner: object
  /** Why no answer is accepted any more; absent while the call is pending. */
  readonly end?: string
}

/** The history of a hub, shared by its clients. */
function answerHistoryOf(hub: object): AnswerHistory {
  const history = histories.get(hub) ?? new AnswerHistory()
  histories.set(hub, history)
  return history
}

/** Receives calls, one after the other. */
export type CallListener = (call: ClientCall) => void | Promise<void>

/** Calls for a client, in the order in which they became pending; they wait while nobody listens. */
class CallQueue {
  #waiting: ClientCall[] = []
  #listener: ((call: ClientCall) => void) | undefined
  /** Wakes the iteration that waits for the next call. */
  #wake: (() => void) | undefined
  #isTaken = false
  #isClosed = false

  push(call: ClientCall): void {
    this.#waiting.push(call)
    this.#deliver()
  }

  /** Passes every call to one listener, waiting ones first. Returns a function that stops it. */
  listen(listener: (call: ClientCall) => void): () => void {
    this.#take()
    this.#listener = listener
    this.#deliver()
    return () => {
      if (this.#listener !== listener) return
      this.#listener = undefined
      this.#isTaken = false
    }
  }

  /** Yields the calls one by one; ends with the connection. */
  async *iterate(): AsyncGenerator<ClientCall, void> {
    this.#take()
    try {
      while (!this.#isClosed) {
        const call = this.#next()
        if (call) yield call
        if (!call) await new Promise<void>((resolve) => (this.#wake = resolve))
      }
    } finally {
      this.#isTaken = false
    }
  }

  close(): void {
    this.#isClosed = true
    this.#waiting = []
    this.#wake?.()
  }

  #deliver(): void {
    this.#wake?.()
    this.#wake = undefined
    while (this.#listener) {
      const call = this.#next()
      if (!call) return
      this.#listener(call)
    }
  }

  /** Skips calls that were aborted while they waited. */
  #next(): ClientCall | undefined {
    let call = this.#waiting.shift()
    while (call?.signal.aborted) call = this.#waiting.shift()
    return call
  }

  #take(): void {
    if (this.#isTaken) {
      throw new ToolError('CONFLICT', 'Somebody takes the calls of this client already.', {
        hint: 'A call has one answer, so it goes to one listener: stop the other first.',
      })
    }
    this.#isTaken = true
  }
}
