import { randomBytes } from 'node:crypto'
import {
  type CallEvent,
  type CallOptions,
  type CallView,
  type Capability,
  type Clock,
  type Effect,
  PLACE_KEYS,
  type ResolvedTarget,
  type SandboxLevel,
  type ScriptPlace,
  ToolError,
} from '@tool-hub/core'
import { hashJson } from '@tool-hub/core/lib'
import type { Decision, ValueEvidence } from '@tool-hub/policy'
import type { CommandPart, CommandReading } from '@tool-hub/shell'
import type { NamedScript } from '../../approvals/index.ts'
import type { CallExecution, CallLimits, CallReport } from './call-parts.ts'
import type { RegisteredDialect, RegisteredTool } from './registered-tool.ts'

/** A command, its working folder, and the names of the environment variables that it may add. */
export interface JudgedCommand {
  readonly value: string
  readonly cwd: string
  readonly env: readonly string[]
}

const NO_READINGS: ReadonlyMap<string, CommandReading> = new Map()
const NO_SCRIPTS: ReadonlyMap<CommandPart, readonly NamedScript[]> = new Map()

/** The abort reason of a call that has ended. Shared, because a new error would cost each call a stack trace. */
const OVER = Object.freeze(
  new ToolError('ABORTED', 'The call is over.', {
    hint: 'Finish everything before execute returns; nothing may happen after the record of the call.',
  }),
)

/**
 * One call in the pipeline: who makes it, how it is stopped and ended, and what it reports. What its steps find out grows by
 * stages that contain each other: `FoundCall`, `ValidCall`, `DecidedCall`. Each step takes a stage and returns the next.
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

  /** The input that the schema of the tool gets: from the caller, then from its dialect and `before` hooks. */
  input: unknown
  /** A lower estimate of the size of the input as JSON. */
  inputBytes = 0
  /** The stages that it has reached, for its end and its record. */
  found: FoundCall | undefined
  valid: ValidCall | undefined
  decided: DecidedCall | undefined
  approvedBy: string | undefined
  execution: CallExecution | undefined
  readonly limits: CallLimits = {}
  readonly report: CallReport = {
    evidence: [],
    artifacts: [],
    notices: [],
    isPending: false,
    isUntrusted: false,
    truncated: undefined,
    failure: undefined,
  }
  /** Files that the call changes and that other programs run or obey later. */
  readonly runLater = new Map<string, string>()
  /** The user's words if they count for this call and those it makes only; `undefined`: those of its run. */
  words: ValueEvidence | undefined
  /** Resolves when what the call has reported so far was emitted; `undefined` if nothing waits. */
  reporting: Promise<void> | undefined
  /** What of the call is on record; after its start, the end does not repeat the facts. */
  recorded: 'nothing' | 'start' | 'end' = 'nothing'
  /** Whether the call has asked the sandbox for a change; the intent is recorded. */
  hasChanged = false
  /** The total time that the call has waited for people. */
  waitedMs = 0
  /** Whether the result has been returned. */
  ended = false
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
    this.execution?.resume(waitedMs)
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

  /** Whether `execute` was entered: the call may have had side effects. */
  get wasExecuted(): boolean {
    return this.execution?.enteredMark !== undefined
  }

  /** Hash of the final input; empty before the input is final. */
  get argsHash(): string {
    return this.valid?.argsHash ?? ''
  }

  /** Replaces the input; what was found out about the previous one no longer counts. */
  replaceInput(input: unknown): void {
    this.input = input
    this.valid = undefined
    this.runLater.clear()
  }

  /** The canonical name of the tool, or the requested name before the tool is found. */
  get name(): string {
    return this.found?.tool.tool.name ?? this.wire
  }

  /** The key of the circuit breaker that this call belongs to. */
  get circuit(): string {
    const about = this.valid?.tool.tool.circuit?.(this.valid.input, this.run)
    return about === undefined ? this.name : `${this.name} (${about})`
  }

  view(): CallView {
    const { id: callId, run, name: tool, wire, valid, caller } = this
    const input = valid ? valid.input : this.input
    return { callId, run, tool, wire, input, targets: valid?.targets ?? [], caller, ...givenIds(this.options) }
  }
}

/** A call whose tool was found (step 1). */
export interface FoundCall {
  readonly call: Call
  readonly tool: RegisteredTool
  /** The dialect that the called name belongs to. */
  readonly dialect: RegisteredDialect | undefined
}

/** A call whose input has passed the schema of its tool (step 3), with what it would use (step 4). */
export class ValidCall {
  readonly found: FoundCall
  readonly call: Call
  readonly tool: RegisteredTool
  readonly input: unknown
  /** The capabilities of the tool that this call uses. */
  capabilities: readonly Capability[] = []
  targets: readonly ResolvedTarget[] = []
  /** The commands of the call as policy decides on them. */
  commands: readonly JudgedCommand[] = []
  /** What each command would run, by the value of its target. */
  readings: ReadonlyMap<string, CommandReading> = NO_READINGS
  /** The scripts that parts of the commands name. */
  scripts: ReadonlyMap<CommandPart, readonly NamedScript[]> = NO_SCRIPTS
  /** The isolation level of the commands; `undefined` if the call runs none. */
  sandbox: SandboxLevel | undefined
  /** A file that the call would replace although the run has not read it. */
  unread: string | undefined
  /** What is known about where its values come from, with those that were approved; `undefined`: as for its run. */
  values: ValueEvidence | undefined
  #argsHash: string | undefined

  constructor(found: FoundCall, input: unknown) {
    this.found = found
    this.call = found.call
    this.tool = found.tool
    this.input = input
  }

  /** Hash of the input. */
  get argsHash(): string {
    this.#argsHash ??= hashJson(this.input)
    return this.#argsHash
  }
}

/** A call that policy has decided on (step 5). */
export interface DecidedCall {
  readonly valid: ValidCall
  readonly call: Call
  readonly tool: RegisteredTool
  decision: Decision
  /** The decision's effect, or a stricter one that a hook chose. */
  effect: Effect
  /** Whether the run had read content from outside when policy decided. */
  readonly isInTaintedRun: boolean
}

/** The user's words that count for a call: its own if they are for it alone, else those of its run. */
export function wordsFor(
  { evidence }: { readonly evidence?: ValueEvidence | undefined },
  call: Call,
): ValueEvidence | undefined {
  for (let each: Call | undefined = call; each; each = each.parent) if (each.words) return each.words
  return evidence
}

type GivenIds = Pick<CallOptions, 'requestId' | 'taskId' | 'goalId'>

/** Returns the ids that the caller set; others are absent. */
export function givenIds({ requestId, taskId, goalId }: CallOptions): GivenIds {
  return {
    ...(requestId !== undefined && { requestId }),
    ...(taskId !== undefined && { taskId }),
    ...(goalId !== undefined && { goalId }),
  }
}

/** Throws if another process has the run: only that one has the questions, approvals and budgets that the tool would need. */
export function refuseOnWorker(
  { hold }: { readonly hold: { readonly guest?: object } },
  { name }: Call,
  what: string,
): void {
  if (!hold.guest) return
  throw new ToolError('TOOL_FAILED', `${name} is executed on a worker, where it cannot ${what}.`, {
    hint: `Execute it in the process of the run: without ${PLACE_KEYS}.`,
  })
}

/** Waits for work. Rejects as soon as the call is stopped. */
export function untilStopped<T>(call: Call, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (reason: ToolError) => {
      finish()
      reject(reason)
    }
    const finish = () => {
      // The code that waited for this work runs first, and may wait for the next already.
      if (call.onAbort === stop) call.onAbort = undefined
    }
    call.onAbort = stop
    work.then(resolve, reject).finally(finish)
    if (call.abortReason) stop(call.abortReason)
  })
}

/** Waits for what a call needs before its tool runs. Rejects if the call is stopped, or with TIMEOUT after the tool timeout. */
export function withinTimeout<T>(
  { clock, settings }: { readonly clock: Clock; readonly settings: { readonly timeoutMs: number } },
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

/** Those who listen to the events of all calls of a hub. */
export interface HubListeners {
  readonly calls: { readonly listeners: ReadonlySet<(event: CallEvent) => void> }
}

/** Emits an event to the stream of the call and to all listeners of the hub. */
export function emitEvent({ calls }: HubListeners, call: Call, event: CallEvent): void {
  if (call.emit) notify(call.emit, event)
  for (const listener of calls.listeners) notify(listener, event)
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
