import { type BaseContext, type Retry, ToolError, toolFailure } from '@tool-hub/core'
import { retryDelayMs } from '../../limits/index.ts'
import { type CallSpan, startSpan } from '../../records/telemetry.ts'
import type { RunState } from '../run-state.ts'
import type { Runtime } from '../runtime.ts'
import { type Call, type DecidedCall, emitEvent } from './call.ts'
import type { CallExecution, CallPlace } from './call-parts.ts'
import { buildContext } from './context.ts'
import { recordLate, recordPending } from './record.ts'
import { isFromOutside, markUntrusted } from './taint.ts'

/** Step 8: runs the tool with its context, or at another place. Returns a promise only if the tool does. */
export function execute(runtime: Runtime, run: RunState, decided: DecidedCall, place: CallPlace | undefined): unknown {
  const { call } = decided
  const { name: tool, description, retry } = decided.tool.tool
  emitEvent(runtime, call, { type: 'call-started', callId: call.id, tool })
  const span = startSpan({ tool, callId: call.id, description })
  const context = buildContext(runtime, run, decided)
  const execution = new Execution(runtime, run, decided, { context, place, span })
  if (isFromOutside(call)) return runAndLabel(run, decided, execution)
  return retry ? execution.attemptAgain(retry) : execution.attempt()
}

/** Runs a tool that uses the network or another system, and marks its result as content from outside. */
async function runAndLabel(run: RunState, { call, tool }: DecidedCall, execution: Execution): Promise<unknown> {
  const { retry } = tool.tool
  try {
    return await (retry ? execution.attemptAgain(retry) : execution.attempt())
  } finally {
    markUntrusted(run, call)
  }
}

/** What a tool is executed with. */
interface ExecutionOptions {
  readonly context: BaseContext
  readonly place?: CallPlace
  readonly span?: CallSpan
}

/**
 * A tool that is running: its attempts, and its time limit, which is paused while the call waits for a person. Settles
 * exactly once. One object instead of several closures, because thousands may run concurrently.
 */
export class Execution implements CallExecution {
  readonly place: CallPlace | undefined
  readonly span: CallSpan | undefined
  attempts = 0
  enteredMark: number | undefined
  waitedMs = 0
  isAbandoned = false
  mayRepeat: boolean | undefined
  readonly #runtime: Runtime
  readonly #run: RunState
  readonly #decided: DecidedCall
  readonly #call: Call
  readonly #context: BaseContext
  #leftMs: number
  /** When the time was last started or resumed; `undefined` while it is paused. */
  #since: number | undefined
  #cancelTimer: (() => void) | undefined
  /** Settle the promise of the tool; `undefined` if it is not awaited, or no longer. */
  #resolve: ((value: unknown) => void) | undefined
  #reject: ((error: unknown) => void) | undefined

  /** The call has this execution from now on. */
  constructor(runtime: Runtime, run: RunState, decided: DecidedCall, { context, place, span }: ExecutionOptions) {
    const { call } = decided
    this.place = place
    this.span = span
    this.#runtime = runtime
    this.#run = run
    this.#decided = decided
    this.#call = call
    this.#context = context
    const { reservation } = call.limits
    this.#leftMs = Math.min(toolTimeoutMs(runtime, decided), reservation?.wallMs ?? Number.POSITIVE_INFINITY)
    this.#since = runtime.clock.now()
    call.execution = this
  }

  pause(): void {
    this.#leftMs = this.#timeLeftMs()
    this.#since = undefined
    // The grace period of a stopped tool is not paused.
    if (!this.#call.abortReason) this.#cancelTimer?.()
  }

  resume(waitedMs: number): void {
    if (this.enteredMark !== undefined) this.waitedMs += waitedMs
    this.#since = this.#runtime.clock.now()
    if (this.#reject && !this.#call.abortReason) this.#startTimer()
  }

  /** Runs the tool once. Returns its value, or a promise that the time limit and the caller can end. */
  attempt(): unknown {
    const decided = this.#decided
    if (this.#call.abortReason) throw this.#call.abortReason
    this.attempts++
    this.enteredMark ??= performance.now()
    let outcome: unknown
    try {
      outcome = this.place ? this.#executeAt(this.place) : decided.tool.tool.execute(decided.valid.input, this.#context)
    } catch (thrown) {
      throw failureOf(decided, thrown)
    }
    if (typeof outcome !== 'object' || outcome === null || !('then' in outcome)) return outcome
    if (typeof outcome.then !== 'function') return outcome
    recordPending(this.#runtime, this.#run, this.#call)
    return this.#wait(outcome as PromiseLike<unknown>)
  }

  #executeAt(place: CallPlace): Promise<unknown> {
    const { executor } = this.#runtime.machines
    return executor.execute(this.#runtime, this.#run, this.#decided, { place, timeLeftMs: this.#timeLeftMs() })
  }

  /** Runs the tool, and again if it fails and declares that this is safe. */
  async attemptAgain(retry: Retry): Promise<unknown> {
    const call = this.#call
    for (;;) {
      try {
        return await this.attempt()
      } catch (error) {
        if (call.abortReason) throw call.abortReason
        if (this.attempts >= retry.attempts || !isRetryable(error)) throw error
        await this.#sleep(retryDelayMs(this.attempts, retry, Math.random, retryAfterMs(error)))
      }
    }
  }

  /** Waits for the tool, its time limit or an abort. A stopped tool has the grace period to end, and is then abandoned. */
  #wait(work: PromiseLike<unknown>): Promise<unknown> {
    const call = this.#call
    const waiting = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    if (this.#since !== undefined) this.#startTimer()
    call.onAbort = (reason) => this.#giveGrace(reason)
    work.then(
      (value) => {
        const resolve = this.#resolve
        if (!resolve) return recordLate(this.#runtime, this.#run, call, { ok: true })
        if (call.abortReason) this.#fail(call.abortReason)
        else {
          this.#end()
          resolve(value)
        }
      },
      (error) => {
        if (this.#reject) this.#fail(failureOf(this.#decided, error))
        else recordLate(this.#runtime, this.#run, call, { ok: false, error })
      },
    )
    if (call.abortReason) this.#giveGrace(call.abortReason)
    return waiting
  }

  #giveGrace(reason: ToolError): void {
    const { clock, settings } = this.#runtime
    this.#cancelTimer?.()
    this.#cancelTimer = clock.after(settings.graceMs, () => {
      this.isAbandoned = true
      this.#fail(reason)
    })
  }

  #fail(error: unknown): void {
    const reject = this.#reject
    this.#end()
    reject?.(error)
  }

  #end(): void {
    this.#cancelTimer?.()
    this.#resolve = undefined
    this.#reject = undefined
    this.#call.onAbort = undefined
  }

  #startTimer(): void {
    this.#cancelTimer = this.#runtime.clock.after(this.#timeLeftMs(), () => this.#call.abort(this.#outOfTime()))
  }

  #timeLeftMs(): number {
    return this.#since === undefined
      ? this.#leftMs
      : Math.max(0, this.#leftMs - (this.#runtime.clock.now() - this.#since))
  }

  /** Waits before the next attempt, but not longer than the time limit. */
  #sleep(ms: number): Promise<void> {
    const call = this.#call
    const leftMs = this.#timeLeftMs()
    return new Promise((resolve, reject) => {
      const cancel = this.#runtime.clock.after(Math.min(ms, leftMs), () => {
        call.onAbort = undefined
        if (ms < leftMs) return resolve()
        call.abort(this.#outOfTime())
        reject(call.abortReason)
      })
      call.onAbort = (reason) => {
        cancel()
        reject(reason)
      }
    })
  }

  /** Creates the error that ends the call when its time is up, for the limit that was reached. */
  #outOfTime(): ToolError {
    const { name, limits } = this.#call
    const { reservation } = limits
    const timeoutMs = toolTimeoutMs(this.#runtime, this.#decided)
    if (reservation && reservation.wallMs < timeoutMs) return outOfBudget(name, reservation.wallMs, reservation.wallKey)
    return new ToolError('TIMEOUT', `${name} did not finish within ${Math.ceil(timeoutMs)} ms.`, {
      fix: { key: 'limits.timeout', hint: 'Ask for less, or have the owner raise limits.timeout.' },
    })
  }
}

/** Returns the shortest time limit of dialect, tool or hub, rule and caller. */
function toolTimeoutMs({ settings }: Runtime, { call, valid, tool, decision }: DecidedCall): number {
  return Math.min(
    valid.found.dialect?.dialect.timeoutMs ?? tool.tool.timeoutMs ?? settings.timeoutMs,
    decision.constraints.timeoutMs ?? Number.POSITIVE_INFINITY,
    call.options.timeoutMs ?? Number.POSITIVE_INFINITY,
  )
}

function outOfBudget(name: string, wallMs: number, key = 'limits.run.time'): ToolError {
  return new ToolError(
    'BUDGET_EXCEEDED',
    `${name} used up the ${Math.ceil(wallMs)} ms that were left of the time budget (${key}).`,
    { fix: { key, hint: `Finish with what there is, or have the owner raise ${key}.` } },
  )
}

/** An unexpected error of a built-in tool is a defect of the hub. The message of any other tool's error reaches the model. */
function failureOf({ call, tool }: DecidedCall, thrown: unknown): unknown {
  return tool.origin === 'builtin' ? thrown : toolFailure(call.name, thrown)
}

function isRetryable(error: unknown): boolean {
  return ToolError.is(error) && error.retryable
}

function retryAfterMs(error: unknown): number | undefined {
  const wait = ToolError.is(error) ? error.details?.retryAfterMs : undefined
  return typeof wait === 'number' ? wait : undefined
}
