import { Worker, type WorkerOptions } from 'node:worker_threads'
import { type Clock, type ReadablePage, systemClock, ToolError, throwIfAborted } from '@tool-hub/core'
import { type OwnModule, ownModule } from '../system/index.ts'
import type { PageJob, PageReply } from './extract-page.ts'

/** How to read a web page. */
export interface ReadWebPageOptions {
  /** Where it came from; its links are relative to it. */
  readonly url: string
  readonly as: 'markdown' | 'text'
  readonly signal: AbortSignal
  /** Default: 10 s. Waiting for other pages does not count. */
  readonly timeoutMs?: number
}

/** Longer pages are read up to this length. */
const MAX_HTML_CHARS = 5_000_000

let pool: PageWorkers | undefined

/** The text of an HTML page that a person would read, its article if it has one. Runs in a worker thread. */
export async function readWebPage(
  html: string,
  { url, as, signal, timeoutMs = 10_000 }: ReadWebPageOptions,
): Promise<ReadablePage> {
  pool ??= createPageWorkers()
  return pool.read({ html: html.slice(0, MAX_HTML_CHARS), url, as }, { signal, timeoutMs })
}

/** Reads pages in worker threads: no page can block or crash the process. */
export interface PageWorkers {
  read(job: PageJob, limits: PageLimits): Promise<ReadablePage>
}

/** Settings for tests. */
export interface PageWorkersOptions {
  readonly maxWorkers?: number
  /** How long an idle worker is kept. */
  readonly idleMs?: number
  readonly maxHeapMb?: number
  readonly clock?: Clock
}

/** Starts workers as needed; each reads one page at a time, and further pages wait in order. */
export function createPageWorkers(options: PageWorkersOptions = {}): PageWorkers {
  const { maxWorkers = 2, idleMs = 10_000, maxHeapMb = 256, clock = systemClock } = options
  const turns = new Turns(maxWorkers)
  /** Idle workers, each with a function that cancels its timer. */
  const idle = new Map<Worker, () => void>()

  const start = (): Worker => {
    const worker = startPageWorker(ownModule('sandbox/pages/page-worker'), {
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
    })
    // Without a listener, a worker that dies while idle would end the process.
    worker.on('error', () => idle.delete(worker))
    return worker
  }
  const take = (): Worker => {
    const [worker] = idle.keys()
    if (!worker) return start()
    idle.get(worker)?.()
    idle.delete(worker)
    worker.ref()
    return worker
  }
  const keep = (worker: Worker): void => {
    // A page that is being read keeps the process alive; an idle worker does not.
    worker.unref()
    idle.set(
      worker,
      clock.after(idleMs, () => void end(worker), { background: true }),
    )
  }
  const end = async (worker: Worker | undefined): Promise<void> => {
    if (!worker) return
    idle.delete(worker)
    await worker.terminate()
  }
  const ask = async (job: PageJob, limits: PageLimits): Promise<PageReply> => {
    await turns.take(limits.signal)
    let worker: Worker | undefined
    try {
      worker = take()
      const reply = await askWorker(worker, job, { ...limits, clock })
      keep(worker)
      turns.end()
      return reply
    } catch (error) {
      // It may never finish the page, so it is terminated; then another page gets its turn.
      void end(worker).finally(() => turns.end())
      throw error
    }
  }

  return {
    async read(job, limits) {
      const reply = await ask(job, limits)
      if ('failure' in reply) throw pageError(job.url, reply.failure)
      return reply.page
    },
  }
}

/** How long one page may take, and the signal that stops it. */
interface PageLimits {
  readonly signal: AbortSignal
  readonly timeoutMs: number
}

/** Lets a worker read one page. If this fails, terminate the worker: it may be busy forever, or dead. */
function askWorker(
  worker: Worker,
  job: PageJob,
  { signal, timeoutMs, clock = systemClock }: PageLimits & { readonly clock?: Clock },
): Promise<PageReply> {
  return new Promise((resolve, reject) => {
    const stopTimer = clock.after(timeoutMs, () => fail(pageError(job.url, `it takes longer than ${timeoutMs} ms`)))
    const settle = (): void => {
      stopTimer()
      signal.removeEventListener('abort', onAbort)
      worker.off('message', onReply).off('error', onError).off('exit', onExit)
    }
    const fail = (error: unknown): void => {
      settle()
      reject(error)
    }
    const onReply = (reply: PageReply): void => {
      settle()
      resolve(reply)
    }
    const onError = (error: unknown): void => fail(pageError(job.url, whyItDied(error), error))
    const onExit = (): void => fail(pageError(job.url, 'the thread that read it ended'))
    const onAbort = (): void => {
      try {
        throwIfAborted(signal)
      } catch (error) {
        fail(error)
      }
    }
    signal.addEventListener('abort', onAbort, { once: true })
    worker.on('message', onReply).on('error', onError).on('exit', onExit)
    worker.postMessage(job)
  })
}

function whyItDied(error: unknown): string {
  const isMemory = (error as NodeJS.ErrnoException | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY'
  return isMemory ? 'it takes more memory than a page may' : 'the thread that read it failed'
}

/** The error for a page that cannot be read; another attempt would fail in the same way. */
export function pageError(url: string, why: string, cause?: unknown): ToolError {
  return new ToolError('UPSTREAM_ERROR', `The page ${url.slice(0, 200)} cannot be read: ${why}.`, {
    hint: 'Try extractMode text, or get it as it is with core/http.fetchText.',
    retryable: false,
    ...(cause === undefined ? {} : { cause }),
  })
}

/** Limits how many pages are read concurrently; the others wait in order. */
export class Turns {
  readonly #waiting = new Set<() => void>()
  #free: number

  constructor(atOnce: number) {
    this.#free = atOnce
  }

  /** Waits for a turn, or leaves the queue when the signal aborts. Every turn that was taken must be ended. */
  async take(signal: AbortSignal): Promise<void> {
    throwIfAborted(signal)
    if (this.#free > 0) {
      this.#free--
      return
    }
    const hasTurn = await new Promise<boolean>((resolve) => {
      const leave = (isTurn: boolean): void => {
        this.#waiting.delete(onTurn)
        signal.removeEventListener('abort', onAbort)
        resolve(isTurn)
      }
      const onTurn = (): void => leave(true)
      const onAbort = (): void => leave(false)
      this.#waiting.add(onTurn)
      signal.addEventListener('abort', onAbort, { once: true })
    })
    // Stopped after getting the turn: pass it to the next.
    if (hasTurn && signal.aborted) this.end()
    throwIfAborted(signal)
  }

  /** Ends a turn and passes it to the next in the queue. */
  end(): void {
    const [next] = this.#waiting
    if (next) next()
    else this.#free++
  }
}

/** The settings of a worker; it inherits nothing from the process: no environment, flags or standard streams. */
export type StartPageWorkerOptions = Pick<WorkerOptions, 'workerData' | 'resourceLimits' | 'name' | 'transferList'>

/**
 * Starts a module in a worker thread.
 * @example
 * const resourceLimits = { maxOldGenerationSizeMb: 256 }
 * const worker = startPageWorker(ownModule('sandbox/pages/page-worker'), { resourceLimits })
 */
export function startPageWorker({ file, flags }: OwnModule, options: StartPageWorkerOptions = {}): Worker {
  // What a library prints stays in the worker: these streams are not read, since reading them would keep the process alive.
  return new Worker(file, { ...options, env: {}, execArgv: [...flags], stdout: true, stderr: true })
}
