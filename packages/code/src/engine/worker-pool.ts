import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { once } from '@tool-hub/core/lib'
import { ownFile, ownModule } from '@tool-hub/sandbox/system'
import { type EngineModule, SharedState, type WorkerSettings } from './messages.ts'

/** Settings of the workers. */
export interface WorkerPoolOptions {
  /** Scripts beyond this wait for their turn, each principal for its share. Default: 8. */
  readonly maxWorkers?: number
  /** How many idle workers are kept. Default: 2. */
  readonly maxIdle?: number
  /** How long an idle worker is kept. Default: 30 s. */
  readonly idleMs?: number
  /** The heap of a worker, in addition to the memory of its guest. Default: 256. */
  readonly heapMb?: number
  /** Called when a script has to wait for a worker. */
  readonly onWaiting?: () => void
}

/** A thread that runs one script at a time. */
export interface EngineWorker {
  readonly thread: Worker
  readonly shared: SharedState
}

/** Starts workers as needed. Idle ones do not keep the process alive. */
export class WorkerPool {
  readonly #options: Required<Omit<WorkerPoolOptions, 'maxWorkers' | 'onWaiting'>>
  readonly #turns: FairTurns
  readonly #all = new Set<EngineWorker>()
  /** Idle workers, each with the timer that ends it. */
  readonly #idle = new Map<EngineWorker, NodeJS.Timeout>()
  #isClosed = false

  constructor({
    maxWorkers = 8,
    maxIdle = 2,
    idleMs = 30_000,
    heapMb = 256,
    onWaiting = () => {},
  }: WorkerPoolOptions = {}) {
    this.#options = { maxIdle, idleMs, heapMb }
    this.#turns = new FairTurns(maxWorkers, onWaiting)
  }

  /**
   * Waits for a worker and uses it for one script of a principal. The work says whether the worker can run another one; if
   * not, it is terminated. Rejects if the signal aborts before there is a worker, or the pool is closed.
   */
  async use<Result extends { readonly isHealthy: boolean }>(
    principal: string | undefined,
    signal: AbortSignal,
    work: (worker: EngineWorker) => Promise<Result>,
  ): Promise<Result> {
    if (!(await this.#turns.take(principal, signal))) throw new Error('The script was stopped.')
    try {
      const worker = await this.#take()
      const result = await work(worker)
      if (result.isHealthy) this.#release(worker)
      else await this.#terminate(worker)
      return result
    } finally {
      this.#turns.end(principal)
    }
  }

  /** Whether a script that waits would get the worker that a script of this principal returns. */
  isWanted(principal: string | undefined): boolean {
    return this.#turns.isWanted(principal)
  }

  /** Ends the workers. Scripts that wait for one are stopped by their signals. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#all].map((worker) => this.#terminate(worker)))
  }

  async #take(): Promise<EngineWorker> {
    const parts = await loadParts()
    if (this.#isClosed) throw new Error('The pool is closed.')
    const [worker] = this.#idle.keys()
    if (!worker) return this.#start(parts)
    clearTimeout(this.#idle.get(worker))
    this.#idle.delete(worker)
    worker.thread.ref()
    return worker
  }

  #release(worker: EngineWorker): void {
    if (!this.#all.has(worker)) return
    if (this.#isClosed || this.#idle.size >= this.#options.maxIdle) {
      void this.#terminate(worker)
      return
    }
    worker.thread.unref()
    const timer = setTimeout(() => void this.#terminate(worker), this.#options.idleMs)
    this.#idle.set(worker, timer.unref())
  }

  #start(parts: Pick<WorkerSettings, 'module' | 'guest'>): EngineWorker {
    const { file, flags } = ownModule('code/engine/engine-worker')
    const buffer = new SharedArrayBuffer(SharedState.BYTES)
    const workerData: WorkerSettings = { ...parts, shared: buffer }
    const resourceLimits = {
      maxOldGenerationSizeMb: this.#options.heapMb,
      maxYoungGenerationSizeMb: 32,
      stackSizeMb: 4,
    }
    // It inherits nothing of the process; what it prints is not read, since reading would keep the process alive.
    const thread = new Worker(file, {
      workerData,
      resourceLimits,
      env: {},
      execArgv: [...flags],
      stdout: true,
      stderr: true,
      name: 'tool-hub-script',
    })
    const worker = { thread, shared: new SharedState(buffer) }
    this.#all.add(worker)
    // Without a listener, a worker that dies while idle would end the process.
    thread.on('error', () => this.#forget(worker))
    thread.on('exit', () => this.#forget(worker))
    return worker
  }

  #forget(worker: EngineWorker): void {
    clearTimeout(this.#idle.get(worker))
    this.#idle.delete(worker)
    this.#all.delete(worker)
  }

  async #terminate(worker: EngineWorker): Promise<void> {
    this.#forget(worker)
    await worker.thread.terminate()
  }
}

/** The engine is compiled once; all workers share the machine code. */
const loadParts = once(async () => {
  const engine = createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm')
  const [bytes, guest] = await Promise.all([readFile(engine), readFile(ownFile('code/engine/guest.mjs'), 'utf8')])
  // The types of Node do not have it.
  const { compile }: EngineCompiler = Reflect.get(globalThis, 'WebAssembly')
  return { module: await compile(bytes), guest }
})

interface EngineCompiler {
  readonly compile: (bytes: Uint8Array) => Promise<EngineModule>
}

/**
 * Who gets the next worker. Principals take turns, and each starts a script only while more workers are free than it has:
 * alone it has at most half of them, rounded up, and the next principal finds one. The owner of the hub, who has no
 * principal, may have all of them.
 */
export class FairTurns {
  /** Those who wait, by principal; the first key has its turn next. */
  readonly #waiting = new Map<string | undefined, Set<() => void>>()
  readonly #held = new Map<string | undefined, number>()
  readonly #onWaiting: () => void
  #free: number

  /** `onWaiting` is called when somebody has to wait. */
  constructor(count: number, onWaiting: () => void) {
    this.#free = count
    this.#onWaiting = onWaiting
  }

  /** Waits for a turn. Returns `false` if the signal aborts first; otherwise the turn must be ended. */
  async take(principal: string | undefined, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false
    if (this.#mayTake(principal)) {
      this.#start(principal)
      return true
    }
    const hasTurn = await this.#wait(principal, signal)
    if (hasTurn && signal.aborted) this.end(principal)
    return hasTurn && !signal.aborted
  }

  /** Ends a turn, and starts those that have become possible. */
  end(principal: string | undefined): void {
    const held = this.#heldBy(principal) - 1
    if (held > 0) this.#held.set(principal, held)
    else this.#held.delete(principal)
    this.#free++
    this.#startNext()
  }

  /** Whether somebody who waits would get the turn that this principal ends: one of its own scripts, or anybody if all are taken. */
  isWanted(principal: string | undefined): boolean {
    for (const waiting of this.#waiting.keys()) {
      if (waiting !== principal && this.#free > 0) continue
      const held = this.#heldBy(waiting) - (waiting === principal ? 1 : 0)
      if (hasShare(waiting, held, this.#free + 1)) return true
    }
    return false
  }

  #heldBy(principal: string | undefined): number {
    return this.#held.get(principal) ?? 0
  }

  #mayTake(principal: string | undefined): boolean {
    return hasShare(principal, this.#heldBy(principal), this.#free)
  }

  #start(principal: string | undefined): void {
    this.#free--
    this.#held.set(principal, this.#heldBy(principal) + 1)
  }

  #startNext(): void {
    for (const [principal, own] of this.#waiting) {
      if (!this.#mayTake(principal)) continue
      const [wake] = own
      this.#start(principal)
      // Its principal moves behind the others, where this loop meets it again.
      this.#waiting.delete(principal)
      this.#waiting.set(principal, own)
      wake!()
    }
  }

  #wait(principal: string | undefined, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const own = this.#waiting.get(principal) ?? new Set()
      const leave = (hasTurn: boolean): void => {
        own.delete(onTurn)
        if (own.size === 0) this.#waiting.delete(principal)
        signal.removeEventListener('abort', onAbort)
        resolve(hasTurn)
      }
      const onTurn = (): void => leave(true)
      const onAbort = (): void => leave(false)
      this.#waiting.set(principal, own.add(onTurn))
      signal.addEventListener('abort', onAbort, { once: true })
      this.#onWaiting()
    })
  }
}

function hasShare(principal: string | undefined, held: number, free: number): boolean {
  return free > 0 && (principal === undefined || held === 0 || held < free)
}
