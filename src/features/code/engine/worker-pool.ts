import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { once } from '../../../lib/index.ts'
import { ownFile, ownModule } from '../../../system/index.ts'
import { type EngineModule, SharedState, type WorkerSettings } from './messages.ts'

/** Settings of the workers. */
export interface WorkerPoolOptions {
  /** Scripts beyond this wait for their turn. Default: 8. */
  readonly maxWorkers?: number
  /** How many idle workers are kept. Default: 2. */
  readonly maxIdle?: number
  /** How long an idle worker is kept. Default: 30 s. */
  readonly idleMs?: number
  /** The heap of a worker, in addition to the memory of its guest. Default: 256. */
  readonly heapMb?: number
}

/** A thread that runs one script at a time. */
export interface EngineWorker {
  readonly thread: Worker
  readonly shared: SharedState
}

/** Starts workers as needed. Idle ones do not keep the process alive. */
export class WorkerPool {
  readonly #options: Required<WorkerPoolOptions>
  readonly #all = new Set<EngineWorker>()
  /** Idle workers, each with the timer that ends it. */
  readonly #idle = new Map<EngineWorker, NodeJS.Timeout>()
  readonly #waiting = new Set<() => void>()
  #busy = 0
  #isClosed = false

  constructor({ maxWorkers = 8, maxIdle = 2, idleMs = 30_000, heapMb = 256 }: WorkerPoolOptions = {}) {
    this.#options = { maxWorkers, maxIdle, idleMs, heapMb }
  }

  /** Waits for a worker. Rejects when the signal aborts or the pool is closed. */
  async take(signal: AbortSignal): Promise<EngineWorker> {
    while (!this.#isClosed && !signal.aborted && this.#busy >= this.#options.maxWorkers) await this.#nextTurn(signal)
    if (this.#isClosed || signal.aborted) throw new Error('The pool is closed, or the script was stopped.')
    this.#busy++
    try {
      const parts = await loadParts()
      if (this.#isClosed) throw new Error('The pool is closed.')
      const [worker] = this.#idle.keys()
      if (!worker) return this.#start(parts)
      clearTimeout(this.#idle.get(worker))
      this.#idle.delete(worker)
      worker.thread.ref()
      return worker
    } catch (error) {
      this.#endTurn()
      throw error
    }
  }

  /** Returns a worker that has finished its script. */
  release(worker: EngineWorker): void {
    this.#endTurn()
    if (!this.#all.has(worker)) return
    if (this.#isClosed || this.#idle.size >= this.#options.maxIdle) {
      void this.#terminate(worker)
      return
    }
    worker.thread.unref()
    const timer = setTimeout(() => void this.#terminate(worker), this.#options.idleMs)
    this.#idle.set(worker, timer.unref())
  }

  /** Ends a worker that is stuck or has crashed. */
  async discard(worker: EngineWorker): Promise<void> {
    await this.#terminate(worker)
    this.#endTurn()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const wake of [...this.#waiting]) wake()
    await Promise.all([...this.#all].map((worker) => this.#terminate(worker)))
  }

  #start(parts: Pick<WorkerSettings, 'module' | 'guest'>): EngineWorker {
    const { file, flags } = ownModule('features/code/engine/engine-worker')
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

  #nextTurn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal.addEventListener('abort', wake, { once: true })
    })
  }

  #endTurn(): void {
    this.#busy--
    const [wake] = this.#waiting
    wake?.()
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
  const [bytes, guest] = await Promise.all([
    readFile(engine),
    readFile(ownFile('features/code/engine/guest.mjs'), 'utf8'),
  ])
  // The types of Node do not have it.
  const { compile }: EngineCompiler = Reflect.get(globalThis, 'WebAssembly')
  return { module: await compile(bytes), guest }
})

interface EngineCompiler {
  readonly compile: (bytes: Uint8Array) => Promise<EngineModule>
}
