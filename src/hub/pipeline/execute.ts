import { type BaseContext, type Clock, type Retry, ToolError, toolFailure } from '../../core/index.ts'
import { retryDelayMs } from '../../limits/index.ts'
import { startSpan } from '../../records/telemetry/index.ts'
import type { RunState, Runtime } from '../runtime.ts'
import { type Call, type DecidedCall, emitEvent, type FoundCall, markUntrusted } from './call.ts'
import { buildContext, type CallNested } from './context.ts'
import { recordLate, recordPending } from './record.ts'

/** Everything that running a tool needs in addition to the call. */
export interface Execution {
  readonly clock: Clock
  readonly context: BaseContext
  readonly timeoutMs: number
  /** Creates the error that ends the call when its time is up. */
  readonly outOfTime: () => ToolError
  /** How long a stopped tool may take to clean up before it is abandoned. */
  readonly graceMs: number
  /** Called if the tool returns a promise. */
  readonly onPending: () => void
  /** Called if the tool settles after it was abandoned. */
  readonly onLate: (outcome: { readonly ok: boolean; readonly error?: unknown }) => void
}

/** Step 8: runs the tool with its context. Returns a promise only if the tool does. */
export function execute(runtime: Runtime, run: RunState, call: DecidedCall, callNested: CallNested): unknown {
  const { name: tool, description } = call.tool.tool
  emitEvent(runtime, call, { type: 'call-started', callId: call.id, tool })
  call.span = startSpan({ tool, callId: call.id, description })
  const execution: Execution = {
    clock: runtime.clock,
    context: buildContext(runtime, run, call, callNested),
    ...timeLimitOf(runtime, call),
    graceMs: runtime.settings.graceMs,
    onPending: () => recordPending(runtime, run, call),
    onLate: (outcome) => recordLate(runtime, run, call, outcome),
  }
  const isFromOutside = call.capabilities.includes('network') || call.capabilities.includes('remote')
  return isFromOutside ? runAndLabel(run, call, execution) : runTool(call, execution)
}

/** Runs a tool that uses the network or another system, and marks its result as content from outside. */
async function runAndLabel(run: RunState, call: FoundCall, execution: Execution): Promise<unknown> {
  try {
    return await runTool(call, execution)
  } finally {
    markUntrusted(run, call)
  }
}

/** Returns the shortest time limit of dialect, tool or hub, rule, caller and budget, with the error for that limit. */
function timeLimitOf(runtime: Runtime, call: DecidedCall): Pick<Execution, 'timeoutMs' | 'outOfTime'> {
  const { wallMs = Number.POSITIVE_INFINITY, wallKey } = call.reservation ?? {}
  const timeoutMs = Math.min(
    call.dialect?.dialect.timeoutMs ?? call.tool.tool.timeoutMs ?? runtime.settings.timeoutMs,
    call.decision.constraints.timeoutMs ?? Number.POSITIVE_INFINITY,
    call.options.timeoutMs ?? Number.POSITIVE_INFINITY,
  )
  if (wallMs < timeoutMs) return { timeoutMs: wallMs, outOfTime: () => outOfBudget(call, wallMs, wallKey) }
  return { timeoutMs, outOfTime: () => outOfTime(call, timeoutMs) }
}

function outOfTime(call: Call, timeoutMs: number): ToolError {
  return new ToolError('TIMEOUT', `${call.name} did not finish within ${Math.ceil(timeoutMs)} ms.`, {
    fix: { key: 'limits.timeout', hint: 'Ask for less, or have the owner raise limits.timeout.' },
  })
}

function outOfBudget(call: Call, wallMs: number, key = 'limits.run.time'): ToolError {
  return new ToolError(
    'BUDGET_EXCEEDED',
    `${call.name} used up the ${Math.ceil(wallMs)} ms that were left of the time budget (${key}).`,
    { fix: { key, hint: `Finish with what there is, or have the owner raise ${key}.` } },
  )
}

/** Runs the tool within its time limit, and retries if the tool declares that this is safe. Settles exactly once. */
export function runTool(call: FoundCall, execution: Execution): unknown {
  const { retry } = call.tool.tool
  const limit = new TimeLimit(execution.clock, execution.timeoutMs)
  call.timeLimit = limit
  return retry ? attemptAgain(call, execution, limit, retry) : attempt(call, execution, limit)
}

/** Runs the tool once. Returns its value, or a promise that the time limit and the caller can end. */
function attempt(call: FoundCall, execution: Execution, limit: TimeLimit): unknown {
  if (call.abortReason) throw call.abortReason
  call.attempts++
  call.executedMark ??= performance.now()
  let outcome: unknown
  try {
    outcome = call.tool.tool.execute(call.input, execution.context)
  } catch (thrown) {
    throw failureOf(call, thrown)
  }
  if (!isThenable(outcome)) return outcome
  execution.onPending()
  return settleWithin(outcome, call, execution, limit)
}

async function attemptAgain(call: FoundCall, execution: Execution, limit: TimeLimit, retry: Retry): Promise<unknown> {
  for (;;) {
    try {
      return await attempt(call, execution, limit)
    } catch (error) {
      if (call.abortReason) throw call.abortReason
      if (call.attempts >= retry.attempts || !isRetryable(error)) throw error
      await pause(retryDelayMs(call.attempts, retry, Math.random, retryAfterMs(error)), call, execution, limit)
    }
  }
}

/** Waits for the tool, its time limit or an abort. A stopped tool has the grace period to end, and is then abandoned. */
function settleWithin(
  work: PromiseLike<unknown>,
  call: FoundCall,
  execution: Execution,
  limit: TimeLimit,
): Promise<unknown> {
  return new Promise((resolve, reject) => new Waiting(call, execution, limit, resolve, reject).start(work))
}

/** A tool that is still running. One object instead of several closures, because thousands may run concurrently. */
class Waiting {
  readonly #call: FoundCall
  readonly #execution: Execution
  readonly #limit: TimeLimit
  readonly #resolve: (value: unknown) => void
  readonly #reject: (error: unknown) => void
  #cancelGrace: (() => void) | undefined
  #isDone = false

  constructor(
    call: FoundCall,
    execution: Execution,
    limit: TimeLimit,
    resolve: (value: unknown) => void,
    reject: (error: unknown) => void,
  ) {
    this.#call = call
    this.#execution = execution
    this.#limit = limit
    this.#resolve = resolve
    this.#reject = reject
  }

  start(work: PromiseLike<unknown>): void {
    const call = this.#call
    this.#limit.watch(() => call.abort(this.#execution.outOfTime()))
    call.onAbort = (reason) => this.#giveGrace(reason)
    work.then(
      (value) => this.#succeed(value),
      (error) => this.#fail(error),
    )
    if (call.abortReason) this.#giveGrace(call.abortReason)
  }

  #giveGrace(reason: ToolError): void {
    const { clock, graceMs } = this.#execution
    this.#limit.unwatch()
    this.#cancelGrace = clock.after(graceMs, () => {
      this.#call.abandoned = true
      this.#end()
      this.#reject(reason)
    })
  }

  #succeed(value: unknown): void {
    if (this.#isDone) {
      this.#execution.onLate({ ok: true })
      return
    }
    this.#end()
    const { abortReason } = this.#call
    if (abortReason) this.#reject(abortReason)
    else this.#resolve(value)
  }

  #fail(error: unknown): void {
    if (this.#isDone) {
      this.#execution.onLate({ ok: false, error })
      return
    }
    this.#end()
    this.#reject(failureOf(this.#call, error))
  }

  #end(): void {
    this.#isDone = true
    this.#limit.unwatch()
    this.#cancelGrace?.()
    this.#call.onAbort = undefined
  }
}

function pause(ms: number, call: Call, { clock, outOfTime }: Execution, limit: TimeLimit): Promise<void> {
  const left = limit.leftMs
  return new Promise((resolve, reject) => {
    const cancel = clock.after(Math.min(ms, left), () => {
      call.onAbort = undefined
      if (ms < left) return resolve()
      call.abort(outOfTime())
      reject(call.abortReason)
    })
    call.onAbort = (reason) => {
      cancel()
      reject(reason)
    }
  })
}

/** An unexpected error of a built-in tool is a defect of the hub. The message of any other tool's error reaches the model. */
function failureOf(call: FoundCall, thrown: unknown): unknown {
  return call.tool.origin === 'builtin' ? thrown : toolFailure(call.name, thrown)
}

function isRetryable(error: unknown): boolean {
  return ToolError.is(error) && error.retryable
}

function retryAfterMs(error: unknown): number | undefined {
  const wait = ToolError.is(error) ? error.details?.retryAfterMs : undefined
  return typeof wait === 'number' ? wait : undefined
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

/** The remaining time of a tool. It is paused while the call waits for a person. */
export class TimeLimit {
  readonly #clock: Clock
  #leftMs: number
  /** When the time was last started or resumed; `undefined` while it is paused. */
  #since: number | undefined
  #onOver: (() => void) | undefined
  #cancelTimer: (() => void) | undefined

  constructor(clock: Clock, ms: number) {
    this.#clock = clock
    this.#leftMs = ms
    this.#since = clock.now()
  }

  get leftMs(): number {
    return this.#since === undefined ? this.#leftMs : Math.max(0, this.#leftMs - (this.#clock.now() - this.#since))
  }

  /** Calls the listener when the time is up, unless `unwatch` is called first. */
  watch(onOver: () => void): void {
    this.#onOver = onOver
    if (this.#since !== undefined) this.#setTimer()
  }

  unwatch(): void {
    this.#onOver = undefined
    this.#cancelTimer?.()
  }

  pause(): void {
    this.#leftMs = this.leftMs
    this.#since = undefined
    this.#cancelTimer?.()
  }

  resume(): void {
    this.#since = this.#clock.now()
    if (this.#onOver) this.#setTimer()
  }

  #setTimer(): void {
    this.#cancelTimer = this.#clock.after(this.leftMs, () => this.#onOver?.())
  }
}
