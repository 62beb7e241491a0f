import { type BaseContext, type Retry, ToolError, toolFailure } from '../../core/index.ts'
import { retryDelayMs } from '../../limits/index.ts'
import { startSpan } from '../../records/telemetry/index.ts'
import type { RunState, Runtime } from '../runtime.ts'
import { type DecidedCall, emitEvent, type FoundCall, markUntrusted } from './call.ts'
import { buildContext, type CallNested } from './context.ts'
import { recordLate, recordPending } from './record.ts'

/** Step 8: runs the tool with its context. Returns a promise only if the tool does. */
export function execute(runtime: Runtime, run: RunState, call: DecidedCall, callNested: CallNested): unknown {
  const { name: tool, description, retry, results } = call.tool.tool
  emitEvent(runtime, call, { type: 'call-started', callId: call.id, tool })
  call.span = startSpan({ tool, callId: call.id, description })
  const execution = new Execution(runtime, run, call, buildContext(runtime, run, call, callNested))
  call.execution = execution
  const usesOutside = call.capabilities.includes('network') || call.capabilities.includes('remote')
  if (results === undefined ? usesOutside : results === 'outside') return runAndLabel(run, call, execution)
  return retry ? execution.attemptAgain(retry) : execution.attempt()
}

/** Runs a tool that uses the network or another system, and marks its result as content from outside. */
async function runAndLabel(run: RunState, call: FoundCall, execution: Execution): Promise<unknown> {
  const { retry } = call.tool.tool
  try {
    return await (retry ? execution.attemptAgain(retry) : execution.attempt())
  } finally {
    markUntrusted(run, call)
  }
}

/**
 * A tool that is running, within its time limit, which is paused while the call waits for a person. Settles exactly once. One
 * object instead of several closures, because thousands may run concurrently.
 */
export class Execution {
  readonly #runtime: Runtime
  readonly #run: RunState
  readonly #call: DecidedCall
  readonly #context: BaseContext
  #leftMs: number
  /** When the time was last started or resumed; `undefined` while it is paused. */
  #since: number | undefined
  #cancelTimer: (() => void) | undefined
  /** Settle the promise of the tool; `undefined` if it is not awaited, or no longer. */
  #resolve: ((value: unknown) => void) | undefined
  #reject: ((error: unknown) => void) | undefined

  constructor(runtime: Runtime, run: RunState, call: DecidedCall, context: BaseContext) {
    this.#runtime = runtime
    this.#run = run
    this.#call = call
    this.#context = context
    this.#leftMs = Math.min(toolTimeoutMs(runtime, call), call.reservation?.wallMs ?? Number.POSITIVE_INFINITY)
    this.#since = runtime.clock.now()
  }

  /** Stops the time while the call waits for a person. */
  pause(): void {
    this.#leftMs = this.#timeLeftMs()
    this.#since = undefined
    // The grace period of a stopped tool is not paused.
    if (!this.#call.abortReason) this.#cancelTimer?.()
  }

  resume(): void {
    this.#since = this.#runtime.clock.now()
    if (this.#reject && !this.#call.abortReason) this.#startTimer()
  }

  /** Runs the tool once. Returns its value, or a promise that the time limit and the caller can end. */
  attempt(): unknown {
    const call = this.#call
    if (call.abortReason) throw call.abortReason
    call.attempts++
    call.executedMark ??= performance.now()
    let outcome: unknown
    try {
      outcome = call.workerLabels ? this.#executeElsewhere(call) : call.tool.tool.execute(call.input, this.#context)
    } catch (thrown) {
      throw failureOf(call, thrown)
    }
    if (typeof outcome !== 'object' || outcome === null || !('then' in outcome)) return outcome
    if (typeof outcome.then !== 'function') return outcome
    recordPending(this.#runtime, this.#run, call)
    return this.#wait(outcome as PromiseLike<unknown>)
  }

  async #executeElsewhere(call: DecidedCall): Promise<unknown> {
    // A call without workers was refused before it was recorded.
    const remote = await this.#runtime.remote!.get()
    return remote.execute(this.#runtime, this.#run, call, this.#timeLeftMs())
  }

  /** Runs the tool, and again if it fails and declares that this is safe. */
  async attemptAgain(retry: Retry): Promise<unknown> {
    const call = this.#call
    for (;;) {
      try {
        return await this.attempt()
      } catch (error) {
        if (call.abortReason) throw call.abortReason
        if (call.attempts >= retry.attempts || !isRetryable(error)) throw error
        await this.#sleep(retryDelayMs(call.attempts, retry, Math.random, retryAfterMs(error)))
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
        if (this.#reject) this.#fail(failureOf(call, error))
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
      this.#call.abandoned = true
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
    const { name, reservation } = this.#call
    const timeoutMs = toolTimeoutMs(this.#runtime, this.#call)
    if (reservation && reservation.wallMs < timeoutMs) return outOfBudget(name, reservation.wallMs, reservation.wallKey)
    return new ToolError('TIMEOUT', `${name} did not finish within ${Math.ceil(timeoutMs)} ms.`, {
      fix: { key: 'limits.timeout', hint: 'Ask for less, or have the owner raise limits.timeout.' },
    })
  }
}

/** Returns the shortest time limit of dialect, tool or hub, rule and caller. */
function toolTimeoutMs({ settings }: Runtime, { dialect, tool, decision, options }: DecidedCall): number {
  return Math.min(
    dialect?.dialect.timeoutMs ?? tool.tool.timeoutMs ?? settings.timeoutMs,
    decision.constraints.timeoutMs ?? Number.POSITIVE_INFINITY,
    options.timeoutMs ?? Number.POSITIVE_INFINITY,
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
