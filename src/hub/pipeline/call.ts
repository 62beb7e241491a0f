import {
  type Artifact,
  type CallEvent,
  type CallOptions,
  type CallView,
  type Capability,
  type Effect,
  type Evidence,
  type ResolvedTarget,
  type ResultMeta,
  type SandboxLevel,
  ToolError,
  type ToolResult,
} from '../../core/index.ts'
import { hashJson } from '../../lib/index.ts'
import type { NewKey, Reservation } from '../../limits/index.ts'
import type { Decision } from '../../policy/index.ts'
import type { CallSpan } from '../../records/telemetry/index.ts'
import type { CommandReading } from '../../shell/index.ts'
import type { RunState, Runtime } from '../runtime.ts'
import type { TimeLimit } from './execute.ts'
import type { RegisteredDialect, RegisteredTool } from './registered-tool.ts'

/** A command, where it runs, and the names of the variables it may add. */
export interface JudgedCommand {
  readonly value: string
  readonly cwd: string
  readonly env: readonly string[]
}

/** Why the signal of a call that is over has fired. One for all: an error of its own would cost each call a stack trace. */
const OVER = Object.freeze(
  new ToolError('ABORTED', 'The call is over.', {
    hint: 'Finish everything before execute returns; nothing may happen after the record of the call.',
  }),
)

/**
 * One call in the pipeline: what the steps learn, in the order they learn it. A step takes the type of the stage before it and
 * returns the next: `FoundCall`, `ValidCall`, `DecidedCall`.
 */
export class Call {
  readonly id: string
  readonly run: string
  /** The name that was called. */
  wire: string
  readonly caller: string
  readonly options: CallOptions
  readonly parent: Call | undefined
  readonly depth: number
  /** Monotonic, for durations. */
  readonly startedMark = performance.now()
  readonly emit: ((event: CallEvent) => void) | undefined

  tool: RegisteredTool | undefined
  /** The dialect whose name was called. */
  dialect: RegisteredDialect | undefined
  input: unknown
  /** Of the input as JSON, estimated from below. */
  inputBytes = 0
  /** The input has passed the schema; it is final. */
  isValid = false
  targets: readonly ResolvedTarget[] = []
  /** Its commands as policy judged them. */
  readonly commands: JudgedCommand[] = []
  /** What its commands would run, by the value of the target. */
  readonly readings = new Map<string, CommandReading>()
  /** The isolation level of its commands, if it runs any. */
  sandbox: SandboxLevel | undefined
  /** A file that it would replace and that the run has not read. */
  unread: string | undefined
  /** Those of its tool's that this call uses. */
  capabilities: readonly Capability[] = []
  decision: Decision | undefined
  /** The decision's effect, or a stricter one that a hook chose. */
  effect: Effect = 'deny'
  approvedBy: string | undefined
  attempts = 0
  /** Its end is on record. */
  recorded = false
  /** Its start is on record, so its end need not repeat the facts. */
  started = false
  /** The sandbox was asked to change something; the intent is on record. */
  hasChanged = false
  /** When `execute` was first entered; from then on the call may have had effects. */
  executedMark: number | undefined
  /** How long people took to answer, in all. */
  waitedMs = 0
  /** The part of it after `execute` was entered. */
  waitedInToolMs = 0
  /** How long `execute` may take. */
  timeLimit: TimeLimit | undefined
  abandoned = false
  /** The result is out; what comes later is late. */
  ended = false
  readonly evidence: Evidence[] = []
  readonly artifacts: Artifact[] = []
  readonly notices: string[] = []
  /** What it read comes from outside. */
  isUntrusted = false
  truncated: ResultMeta['truncated']
  /** What ended the call, before it became a result. */
  failure: ToolError | undefined

  /** What the call holds until its end. */
  reservation: Reservation | undefined
  release: (() => void) | undefined
  /** The one call that a paused tool's circuit breaker lets through to try. */
  isProbe = false
  key: NewKey<ToolResult> | undefined
  span: CallSpan | undefined

  /** Called once when the call is stopped; the step that waits sets it. */
  onAbort: ((reason: ToolError) => void) | undefined

  /** Called when the call has ended and is on record. */
  onEnded: (() => void) | undefined

  /** How many people are waited for now, and since when. */
  #waits = 0
  #waitingSince = 0
  #whenEnded: Promise<void> | undefined
  #argsHash: string | undefined
  #controller: AbortController | undefined
  #stopListeners: Set<(reason: ToolError) => void> | undefined
  #abortReason: ToolError | undefined

  constructor(fields: {
    id: string
    run: string
    wire: string
    caller: string
    options: CallOptions
    parent?: Call
    input: unknown
    emit?: (event: CallEvent) => void
  }) {
    this.id = fields.id
    this.run = fields.run
    this.wire = fields.wire
    this.caller = fields.caller
    this.options = fields.options
    this.parent = fields.parent
    this.depth = fields.parent ? fields.parent.depth + 1 : 0
    this.input = fields.input
    this.emit = fields.emit
  }

  /** The one signal of this call; made when somebody first looks, most tools never do. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#abortReason ?? this.ended) this.#controller.abort(this.#abortReason ?? OVER)
    return this.#controller.signal
  }

  /** Why the call was stopped, if it was. */
  get abortReason(): ToolError | undefined {
    return this.#abortReason
  }

  /** The same as `signal.aborted`, without creating the signal. */
  get isStopped(): boolean {
    return this.ended || this.#abortReason !== undefined
  }

  /** Stops the call; the first reason stays. */
  abort(reason: ToolError): void {
    if (this.#abortReason !== undefined || this.ended) return
    this.#abortReason = reason
    this.#emitStop(reason)
    this.onAbort?.(reason)
  }

  /** Waits for a person. The time until then is not the tool's, nor that of the calls that made this one. */
  async waitFor<T>(answer: Promise<T>): Promise<T> {
    for (let call: Call | undefined = this; call; call = call.parent) call.#beginWait()
    try {
      return await answer
    } finally {
      for (let call: Call | undefined = this; call; call = call.parent) call.#endWait()
    }
  }

  #beginWait(): void {
    if (this.#waits++ > 0) return
    this.#waitingSince = performance.now()
    this.timeLimit?.pause()
  }

  #endWait(): void {
    if (--this.#waits > 0) return
    const waitedMs = performance.now() - this.#waitingSince
    this.waitedMs += waitedMs
    if (this.executedMark !== undefined) this.waitedInToolMs += waitedMs
    this.timeLimit?.resume()
  }

  /** Calls the listener when the call is stopped or over, also if it already is. Returns a function that removes it. Cheaper than a signal. */
  onStop(listener: (reason: ToolError) => void): () => void {
    if (this.isStopped) listener(this.#abortReason ?? OVER)
    this.#stopListeners ??= new Set()
    this.#stopListeners.add(listener)
    return () => this.#stopListeners?.delete(listener)
  }

  #emitStop(reason: ToolError): void {
    this.#controller?.abort(reason)
    const listeners = this.#stopListeners
    this.#stopListeners = undefined
    for (const listener of listeners ?? []) listener(reason)
  }

  /** The result is out: a context that was kept can do nothing more. */
  end(): void {
    this.ended = true
    this.#emitStop(OVER)
  }

  /** Resolves when the call is over and on record. */
  whenEnded(): Promise<void> {
    this.#whenEnded ??= new Promise((resolve) => {
      this.onEnded = resolve
    })
    return this.#whenEnded
  }

  over(): ToolError {
    return new ToolError('ABORTED', `The call ${this.id} of ${this.name} is over.`, {
      hint: 'Finish everything before execute returns; nothing may happen after the record of the call.',
    })
  }

  get executed(): boolean {
    return this.executedMark !== undefined
  }

  /** Hash of the final input; empty as long as there is none. */
  get argsHash(): string {
    if (!this.isValid) return ''
    this.#argsHash ??= hashJson(this.input)
    return this.#argsHash
  }

  /** Another input: what was learnt of the one before is forgotten, and everything is judged anew. */
  replaceInput(input: unknown): void {
    this.input = input
    this.isValid = false
    this.#argsHash = undefined
    this.targets = []
    this.commands.length = 0
    this.readings.clear()
    this.sandbox = undefined
    this.unread = undefined
  }

  /** Canonical name once found, the asked one before. */
  get name(): string {
    return this.tool?.tool.name ?? this.wire
  }

  /** What is paused when calls like this one fail several times in a row. */
  get circuit(): string {
    const about = this.isValid ? this.tool?.tool.circuit?.(this.input, this.run) : undefined
    return about === undefined ? this.name : `${this.name} (${about})`
  }

  view(): CallView {
    const { id: callId, run, name: tool, wire, input, targets, caller } = this
    return { callId, run, tool, wire, input, targets, caller, ...givenIds(this.options) }
  }
}

/** A call whose tool was found (step 1). */
export type FoundCall = Call & { readonly tool: RegisteredTool }

/** A call whose input has passed the schema of its tool (step 3). */
export type ValidCall = FoundCall & { readonly isValid: true }

/** A call that policy has decided on (step 5). */
export type DecidedCall = ValidCall & { readonly decision: Decision }

type GivenIds = Pick<CallOptions, 'requestId' | 'taskId' | 'goalId'>

/** Ids that the caller gave for its own purposes; those that it did not give are absent. */
export function givenIds({ requestId, taskId, goalId }: CallOptions): GivenIds {
  return {
    ...(requestId !== undefined && { requestId }),
    ...(taskId !== undefined && { taskId }),
    ...(goalId !== undefined && { goalId }),
  }
}

/** Marks the run as tainted and the result as untrusted: the call has read text from outside. */
export function markUntrusted(run: RunState, call: Call): void {
  run.taint(call.id)
  labelCall(call)
}

/** The result of the call, and of those that made it, is labelled. */
export function labelCall(call: Call): void {
  for (let reader: Call | undefined = call; reader; reader = reader.parent) reader.isUntrusted = true
}

/** Waits for work, but not past an abort of the call. */
export function untilStopped<T>(call: Call, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const finish = () => {
      call.onAbort = undefined
    }
    call.onAbort = (reason) => {
      finish()
      reject(reason)
    }
    work.then(resolve, reject).finally(finish)
    if (call.abortReason) call.onAbort(call.abortReason)
  })
}

/** Waits for what a call needs before its tool runs: not past an abort, and not longer than a tool may take. */
export function withinTimeout<T>(
  { clock, settings }: Runtime,
  call: Call,
  work: Promise<T>,
  awaited: string,
): Promise<T> {
  const { timeoutMs } = settings
  const cancel = clock.after(timeoutMs, () => {
    call.abort(new ToolError('TIMEOUT', `Timed out after ${timeoutMs} ms while ${call.name} waited for ${awaited}.`))
  })
  return untilStopped(call, work).finally(cancel)
}

/** Emits an event to the stream of the call and to everyone who watches the hub. */
export function emitEvent(runtime: Runtime, call: Call, event: CallEvent): void {
  if (call.emit) notify(call.emit, event)
  runtime.publish(event)
}

/** A listener that throws must not take the call down with it: its error goes to the process as its own. */
function notify(listener: (event: CallEvent) => void, event: CallEvent): void {
  try {
    listener(event)
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
