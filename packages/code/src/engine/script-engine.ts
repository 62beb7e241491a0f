import type { FromWorker, WorkerOutcome } from './messages.ts'
import { STOP } from './messages.ts'
import { ScriptCalls } from './script-calls.ts'
import type { ScriptFailure, ScriptFailureKind, ScriptLog, ScriptOutcome, ScriptRun } from './types.ts'
import { type EngineWorker, WorkerPool, type WorkerPoolOptions } from './worker-pool.ts'

/** How often the limits of a running script are checked from outside. */
const WATCH_MS = 50
/** How long a script may take to stop, and calls to end, before the worker is terminated. */
const GRACE_MS = 500

let lastId = 0

/**
 * Runs scripts of models in worker threads, each script in a QuickJS of its own.
 * @example
 * const engine = new ScriptEngine()
 * const outcome = await engine.run({ source: 'input + 1', input: 41, now: Date.now(), seed: 'a', limits, tools, host, signal })
 * await engine.close()
 */
export class ScriptEngine {
  readonly #pool: WorkerPool
  readonly #closing = new AbortController()

  constructor(options: WorkerPoolOptions = {}) {
    this.#pool = new WorkerPool(options)
  }

  /**
   * Runs a script. Never rejects.
   *
   * A script that returns lives on until all of its calls are answered, as a program of Node would. If it throws, it
   * ends, and the outcome waits for the calls in flight; those that wait for people are aborted. If it is stopped, all of
   * them are aborted, and the outcome waits for them for at most half a second.
   */
  async run(script: ScriptRun): Promise<ScriptOutcome> {
    const encoded = encodeRun(script)
    if ('status' in encoded) return encoded
    const calls = new ScriptCalls(script)
    const stop = new AbortController()
    const onAbort = (): void => stop.abort(failure('ABORTED', 'The script was stopped.'))
    const { signal, limits } = script
    const closed = AbortSignal.any([signal, this.#closing.signal])
    if (closed.aborted) onAbort()
    closed.addEventListener('abort', onAbort)
    const message = `The script took longer than ${limits.wallMs} ms.`
    const watch = setInterval(() => {
      if (calls.elapsedMs > limits.wallMs) stop.abort(failure('TIMEOUT', message))
    }, WATCH_MS).unref()
    try {
      const outcome = await this.#runInWorker(encoded, calls, stop.signal)
      const isStopped = outcome.status === 'failed' && outcome.kind !== 'SCRIPT_ERROR'
      if (outcome.status === 'failed') calls.endWaiting()
      if (isStopped || !(await calls.settled(stop.signal))) {
        calls.abort()
        await calls.settled(AbortSignal.timeout(GRACE_MS))
      }
      return outcome
    } finally {
      clearInterval(watch)
      closed.removeEventListener('abort', onAbort)
      calls.abort()
    }
  }

  /** Whether a script that waits would get the worker that a script of this principal returns. */
  isWanted(principal: string | undefined): boolean {
    return this.#pool.isWanted(principal)
  }

  /** Stops all scripts and ends the workers. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#pool.close()
  }

  async #runInWorker(run: EncodedRun, calls: ScriptCalls, stop: AbortSignal): Promise<ScriptOutcome> {
    try {
      const { outcome } = await this.#pool.use(run.script.principal, stop, (worker) => {
        calls.startClock()
        return executeOn(worker, run, calls, stop)
      })
      return outcome
    } catch {
      if (stop.aborted) return stop.reason as ScriptFailure
      return failure('ENGINE_CRASH', 'No worker could be started for the script.')
    }
  }
}

/** What became of a script, and whether its worker can run another one. */
interface WorkerRun {
  readonly outcome: ScriptOutcome
  readonly isHealthy: boolean
}

function executeOn(
  { thread, shared }: EngineWorker,
  { script, input }: EncodedRun,
  calls: ScriptCalls,
  stop: AbortSignal,
): Promise<WorkerRun> {
  const id = ++lastId
  const { source, now, seed, limits, tools } = script
  shared.reset()
  return new Promise((resolve) => {
    let killAt = Number.POSITIVE_INFINITY
    const end = (run: WorkerRun): void => {
      clearInterval(watch)
      stop.removeEventListener('abort', onStop)
      thread.off('message', onMessage).off('error', onCrash).off('exit', onCrash)
      resolve(run)
    }
    const fail = (reason: ScriptFailure): void => {
      const usage = { cpuMs: shared.cpuMs, memoryBytes: shared.memoryBytes, calls: calls.count }
      end({ outcome: { ...reason, usage }, isHealthy: false })
    }
    const onMessage = (message: FromWorker): void => {
      if (message.id !== id) return
      if (message.type === 'work') {
        for (const entry of message.logs) writeLog(script, entry)
        for (const call of message.calls) calls.make(call)
        return
      }
      if (message.type === 'read') {
        calls.read(message.chars)
        return
      }
      const outcome = readOutcome(message.outcome, stop)
      end({ outcome, isHealthy: !(outcome.status === 'failed' && outcome.kind === 'ENGINE_CRASH') })
    }
    const onCrash = (): void =>
      fail(
        stop.aborted
          ? (stop.reason as ScriptFailure)
          : failure('ENGINE_CRASH', 'The engine that ran the script ended.'),
      )
    const onStop = (): void => {
      shared.stop = (stop.reason as ScriptFailure).kind === 'TIMEOUT' ? STOP.timeout : STOP.aborted
      thread.postMessage({ type: 'stop', id })
      killAt = performance.now() + GRACE_MS
    }
    const watch = setInterval(() => {
      // Some operations of the engine are never interrupted, such as joining a huge array.
      if (performance.now() > killAt) fail(stop.reason as ScriptFailure)
      else if (shared.cpuMs > limits.cpuMs + GRACE_MS)
        fail(failure('CPU_LIMIT', `The script computed for more than ${limits.cpuMs} ms.`))
    }, WATCH_MS)
    thread.on('message', onMessage).on('error', onCrash).on('exit', onCrash)
    stop.addEventListener('abort', onStop)
    calls.answerTo((answers) => thread.postMessage({ type: 'answers', id, answers }))
    thread.postMessage({ type: 'run', id, source, input, now, seed, limits, tools })
    if (stop.aborted) onStop()
  })
}

function readOutcome(outcome: WorkerOutcome, stop: AbortSignal): ScriptOutcome {
  if (outcome.status === 'completed') {
    const { json, ...rest } = outcome
    return { ...rest, value: JSON.parse(json) }
  }
  const isStop = stop.aborted && (outcome.kind === 'TIMEOUT' || outcome.kind === 'ABORTED')
  return isStop ? { ...(stop.reason as ScriptFailure), usage: outcome.usage } : outcome
}

/** A script with its input as JSON text. */
interface EncodedRun {
  readonly script: ScriptRun
  readonly input: string
}

function encodeRun(script: ScriptRun): EncodedRun | ScriptFailure {
  const { source, input, limits } = script
  const bytes = Buffer.byteLength(source)
  if (bytes > limits.sourceBytes)
    return failure('SYNTAX', `The source has ${bytes} bytes, more than the limit of ${limits.sourceBytes}.`)
  try {
    return { script, input: JSON.stringify(input) ?? 'null' }
  } catch {
    return failure('SCRIPT_ERROR', 'The input of the script is not a JSON value.')
  }
}

/** Logs are for people: a listener that fails must not end a script. */
function writeLog({ host }: ScriptRun, entry: ScriptLog): void {
  try {
    host.log(entry)
  } catch {}
}

function failure(kind: ScriptFailureKind, message: string): ScriptFailure {
  return { status: 'failed', kind, message, usage: { cpuMs: 0, memoryBytes: 0, calls: 0 } }
}
