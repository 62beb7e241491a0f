import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { once } from '@tool-hub/core/lib'
import { ownFile, ownModule } from '@tool-hub/sandbox/system'
import { FairTurns } from './fair-turns.ts'
import { type EngineModule, SharedState, type WorkerSettings } from './messages.ts'

/** Settings of the workers. */
export interface WorkerPoolOptions {
  /** Scripts beyond this wait for their turn; fair-turns.ts has the share of one principal. Default: 8. */
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
