import type { ScriptCompletion, ScriptFailure, ScriptLimits, ScriptLog } from './types.ts'

// What the engine and its workers send each other. Values of tools travel as JSON text, which the guest parses itself.

/** The engine as a compiled WebAssembly module, for which the types of Node have no name. */
export type EngineModule = object

/** How a worker is started. */
export interface WorkerSettings {
  readonly module: EngineModule
  /** The source of guest.mjs. */
  readonly guest: string
  readonly shared: SharedArrayBuffer
}

/** One script for a worker. */
export interface WorkerJob {
  readonly type: 'run'
  readonly id: number
  readonly source: string
  /** JSON text. */
  readonly input: string
  readonly now: number
  readonly seed: string
  readonly limits: ScriptLimits
  readonly tools: readonly string[]
}

/** The answer to a call: the value or the error as JSON text. */
export interface WorkerAnswer {
  readonly seq: number
  readonly isOk: boolean
  readonly json: string
}

/** How many characters of an answer count for the room in a worker; short ones do not. */
export function largeChars({ json }: WorkerAnswer): number {
  return json.length > 4_096 ? json.length : 0
}

/** What the engine sends. Answers are delivered to the guest one at a time, in this order. */
export type ToWorker =
  | WorkerJob
  | { readonly type: 'answers'; readonly id: number; readonly answers: readonly WorkerAnswer[] }
  | { readonly type: 'stop'; readonly id: number }

/** A call of the guest. */
export interface WorkerCall {
  readonly kind: 'call' | 'search' | 'describe'
  readonly seq: number
  readonly tool: string
  /** JSON text. */
  readonly input: string
  readonly line?: number
  readonly column?: number
}

/** What a worker sends. */
export type FromWorker =
  | {
      readonly type: 'work'
      readonly id: number
      readonly calls: readonly WorkerCall[]
      readonly logs: readonly ScriptLog[]
    }
  /** Large answers that were delivered, in characters. */
  | { readonly type: 'read'; readonly id: number; readonly chars: number }
  | { readonly type: 'done'; readonly id: number; readonly outcome: WorkerOutcome }

/** The outcome of a script as its worker knows it. */
export type WorkerOutcome = ScriptFailure | (Omit<ScriptCompletion, 'value'> & { readonly json: string })

/** Why the engine stops a script. */
export const STOP = { none: 0, timeout: 1, aborted: 2 } as const

/** The memory that the engine and a worker share: neither has to wait until the other reads messages. */
export class SharedState {
  static readonly BYTES = 32
  readonly #stop: Int32Array
  readonly #times: Float64Array

  constructor(buffer: SharedArrayBuffer) {
    this.#stop = new Int32Array(buffer, 0, 1)
    this.#times = new Float64Array(buffer, 8, 3)
  }

  get stop(): number {
    return Atomics.load(this.#stop, 0)
  }

  set stop(reason: number) {
    Atomics.store(this.#stop, 0, reason)
  }

  /** The time that the guest has computed, with the part that is not over. */
  get cpuMs(): number {
    const [used = 0, since = 0] = this.#times
    return since === 0 ? used : used + monotonicMs() - since
  }

  get memoryBytes(): number {
    return this.#times[2] ?? 0
  }

  /** The guest begins to compute. */
  enter(): void {
    this.#times[1] = monotonicMs()
  }

  /** The guest waits; so much memory it occupies. */
  leave(memoryBytes: number): void {
    const used = this.cpuMs
    this.#times[2] = memoryBytes
    this.#times[1] = 0
    this.#times[0] = used
  }

  reset(): void {
    this.stop = STOP.none
    this.#times.fill(0)
  }
}

/** The same clock in every thread. */
function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1_000 + nanoseconds / 1e6
}
