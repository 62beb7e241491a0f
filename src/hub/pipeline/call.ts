import { randomBytes } from 'node:crypto'
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
  type ScriptPlace,
  ToolError,
  type ToolResult,
} from '../../core/index.ts'
import { hashJson } from '../../lib/index.ts'
import type { NewKey, Reservation } from '../../limits/index.ts'
import type { Decision, ValueEvidence } from '../../policy/index.ts'
import type { CallSpan } from '../../records/telemetry/index.ts'
import type { CommandReading } from '../../shell/index.ts'
import type { RunState, Runtime } from '../runtime.ts'
import type { Execution } from './execute.ts'
import type { RegisteredDialect, RegisteredTool } from './registered-tool.ts'

/** A command, its working folder, and the names of the environment variables that it may add. */
export interface JudgedCommand {
  readonly value: string
  readonly cwd: string
  readonly env: readonly string[]
}

const NO_READINGS: ReadonlyMap<string, CommandReading> = new Map()

/** The abort reason of a call that has ended. Shared, because a new error would cost each call a stack trace. */
const OVER = Object.freeze(
  new ToolError('ABORTED', 'The call is over.', {
    hint: 'Finish everything before execute returns; nothing may happen after the record of the call.',
  }),
)

/**
 * One call in the pipeline, with the state that its steps add in order. Each step takes the type of the previous stage and
 * returns that of the next: `FoundCall`, `ValidCall`, `DecidedCall`.
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
  /** Where in the model's script the call is made; `undefined` for direct calls. */
  readonly script: ScriptPlace | undefined
  /** Stores the source of the script, for those who are asked about the call. */
  readonly keepSource: (() => Promise<string>) | undefined
  /** Monotonic, for durations. */
  readonly startedMark = performance.now()
  readonly emit: ((event: CallEvent) => void) | undefined

  tool: RegisteredTool | undefined
  /** The dialect that the called name belongs to. */
  dialect: RegisteredDialect | undefined
  input: unknown
  /** A lower estimate of the size of the input as JSON. */
  inputBytes = 0
  /** Whether the input has passed the schema and is final. */
  isValid = false
  targets: readonly ResolvedTarget[] = []
  /** The commands of the call as policy decided on them. */
  commands: readonly JudgedCommand[] = []
  /** What each command would run, by the value of its target. */
  readings: ReadonlyMap<string, CommandReading> = NO_READINGS
  /** The isolation level of the commands; `undefined` if the call runs none. */
  sandbox: SandboxLevel | undefined
  /** A file that the call would replace although the run has not read it. */
  unread: string | undefined
  /** What is known about where its values come from, with those that were approved; `undefined`: as for its run. */
  values: ValueEvidence | undefined
  /** The capabilities of the tool that this call uses. */
  capabilities: readonly Capability[] = []
  decision: Decision | undefined
  /** The decision's effect, or a stricter one that a hook chose. */
  effect: Effect = 'deny'
  approvedBy: string | undefined
  attempts = 0
  /** Whether the end of the call is recorded. */
  recorded = false
  /** Whether the start of the call is recorded; the end then does not repeat the facts. */
  started = false
  /** Whether the call has asked the sandbox for a change; the intent is recorded. */
  hasChanged = false
  /** When `execute` was first entered; from then on the call may have had side effects. */
  executedMark: number | undefined
  /** The total time that the call has waited for people. */
  waitedMs = 0
  /** The share of `waitedMs` after `execute` was entered. */
  waitedInToolMs = 0
  /** The labels of the workers that execute the call; `undefined`: this process does. */
  workerLabels: readonly string[] | undefined
  /** Id of the process that executed the call as a worker. */
  worker: string | undefined
  /** The tool that is running; its time stops while the call waits for a person. */
  execution: Pick<Execution, 'pause' | 'resume'> | undefined
  abandoned = false
  /** Whether the result has been returned. */
  ended = false
  readonly evidence: Evidence[] = []
  readonly artifacts: Artifact[] = []
  readonly notices: string[] = []
  /** Whether the call has read content from outside. */
  isUntrusted = false
  /** Whether the run had read content from outside when policy decided. */
  isInTaintedRun = false
  truncated: ResultMeta['truncated']
  /** The error that ended the call. */
  failure: ToolError | undefined

  /** The budget that the call holds until its end. */
  reservation: Reservation | undefined
  release: (() => void) | undefined
  /** Whether this is the one trial call that an open circuit breaker lets through. */
  isProbe = false
  key: NewKey<ToolResult> | undefined
  span: CallSpan | undefined

  /** Why the call was stopped; `undefined` if it was not. Set by `abort`. */
  abortReason: ToolError | undefined
  /** Called once when the call is stopped. Set by the step that is waiting. */
  onAbort: ((reason: ToolError) => void) | undefined

  /** Called when the call has ended and its end is recorded. */
  onEnded: (() => void) | undefined

  /** The number of answers that the call is waiting for, and since when. */
  #waits = 0
  #waitingSince = 0
  #whenEnded: Promise<void> | undefined
  #argsHash: string | undefined
  #controller: AbortController | undefined
  #stopListeners: Set<(reason: ToolError) => void> | undefined

  constructor(fields: {
    id: string
    run: string
    wire: string
    caller: string
    options: CallOptions
    parent?: Call | undefined
    script?: ScriptPlace | undefined
    keepSource?: (() => Promise<string>) | undefined
    input: unknown
    emit?: ((event: CallEvent) => void) | undefined
  }) {
    this.id = fields.id
    this.run = fields.run
    this.wire = fields.wire
    this.caller = fields.caller
    this.options = fields.options
    this.parent = fields.parent
    this.depth = fields.parent ? fields.parent.depth + 1 : 0
    this.script = fields.script
    this.keepSource = fields.keepSource
    this.input = fields.input
    this.emit = fields.emit
  }

  /** The signal of this call. Created on first use, because most tools never read it. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.isStopped) this.#controller.abort(this.abortReason ?? OVER)
    return this.#controller.signal
  }

  /** The same as `signal.aborted`, without creating the signal. */
  get isStopped(): boolean {
    return this.ended || this.abortReason !== undefined
  }

  /** Stops the call. Only the first reason counts. */
  abort(reason: ToolError): void {
    if (this.isStopped) return
    this.abortReason = reason
    this.#emitStop(reason)
    this.onAbort?.(reason)
  }

  /** Waits for a person. The waiting time does not count as time of the tool, nor of the parent calls. */
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
    this.execution?.pause()
  }

  #endWait(): void {
    if (--this.#waits > 0) return
    const waitedMs = performance.now() - this.#waitingSince
    this.waitedMs += waitedMs
    if (this.executedMark !== undefined) this.waitedInToolMs += waitedMs
    this.execution?.resume()
  }

  /**
   * Calls the listener when the call is stopped or has ended, immediately if that has happened. Returns a function that
   * removes the listener. Cheaper than a signal.
   */
  onStop(listener: (reason: ToolError) => void): () => void {
    if (this.isStopped) listener(this.abortReason ?? OVER)
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

  /** Ends the call: a context that its tool has kept no longer works. */
  end(): void {
    this.ended = true
    if (this.#controller ?? this.#stopListeners) this.#emitStop(OVER)
  }

  /** Resolves when the call has ended and its end is recorded. */
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

  /** Hash of the final input; empty before the input is final. */
  get argsHash(): string {
    if (!this.isValid) return ''
    this.#argsHash ??= hashJson(this.input)
    return this.#argsHash
  }

  /** Replaces the input and resets everything that was derived from the previous one. */
  replaceInput(input: unknown): void {
    this.input = input
    this.isValid = false
    this.#argsHash = undefined
    this.targets = []
    this.commands = []
    this.readings = NO_READINGS
    this.sandbox = undefined
    this.unread = undefined
  }

  /** The canonical name of the tool, or the requested name before the tool is found. */
  get name(): string {
    return this.tool?.tool.name ?? this.wire
  }

  /** The key of the circuit breaker that this call belongs to. */
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

/** Returns the ids that the caller set; others are absent. */
export function givenIds({ requestId, taskId, goalId }: CallOptions): GivenIds {
  return {
    ...(requestId !== undefined && { requestId }),
    ...(taskId !== undefined && { taskId }),
    ...(goalId !== undefined && { goalId }),
  }
}

/**
 * Marks the run as tainted and the result as untrusted, because the call has read content from outside. Default source: the
 * hosts and systems that the call names, or its tool.
 */
export function markUntrusted(run: RunState, call: Call, source?: string): void {
  const named = source === undefined ? call.targets.filter(isOutside) : []
  for (const { value } of named) run.taint(call.id, outsideSource(value))
  if (named.length === 0) run.taint(call.id, source === undefined ? toolSource(call) : outsideSource(source))
  labelCall(call)
}

/** Returns the tool, as a target where it is one of an MCP server: `mcp:mail/get_unread`. */
function toolSource({ name }: Call): string {
  return name.replace(/^mcp\/([\w-]+)\./, 'mcp:$1/')
}

function isOutside({ capability }: ResolvedTarget): boolean {
  return capability === 'network' || capability === 'remote'
}

/** Returns the origin of a URL, because the rest may be long or secret, and any other source as it is. */
function outsideSource(source: string): string {
  return /^(https?|wss?):/i.test(source) && URL.canParse(source) ? new URL(source).origin : source
}

/** Marks the result of the call, and those of its parent calls, as untrusted. */
export function labelCall(call: Call): void {
  for (let reader: Call | undefined = call; reader; reader = reader.parent) reader.isUntrusted = true
}

/** Throws if another process has the run: only that one has the questions, approvals and budgets that the tool would need. */
export function refuseOnWorker({ guest }: RunState, { name }: Call, what: string): void {
  if (!guest) return
  throw new ToolError('TOOL_FAILED', `${name} is executed on a worker, where it cannot ${what}.`, {
    hint: 'Execute it in the process of the run: without `where` of the tool, and without limit.runOn of the rule.',
  })
}

/** Waits for work. Rejects as soon as the call is stopped. */
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

/** Waits for what a call needs before its tool runs. Rejects if the call is stopped, or with TIMEOUT after the tool timeout. */
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

/** Generates ids that are cheap and unique across processes: 60 random bits per hub, then a counter. */
export function callIds(): () => string {
  const prefix = `c${randomBytes(8).toString('base64url').replaceAll(/[-_]/g, '0').slice(0, 10)}`
  let count = 0
  return () => `${prefix}-${++count}`
}

/** Emits an event to the stream of the call and to all listeners of the hub. */
export function emitEvent(runtime: Runtime, call: Call, event: CallEvent): void {
  if (call.emit) notify(call.emit, event)
  for (const listener of runtime.listeners) notify(listener, event)
}

/** An error thrown by a listener must not fail the call: it is rethrown as an uncaught exception of the process. */
function notify(listener: (event: CallEvent) => void, event: CallEvent): void {
  try {
    listener(event)
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
