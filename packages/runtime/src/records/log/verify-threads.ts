import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { ownModule } from '@tool-hub/sandbox/system'
import type { KnownHead } from './record-check.ts'
import type { VerifyReport } from './verify-run.ts'
import type { VerifyAnswer, VerifyRequest, VerifyThread } from './verify-worker.ts'

/** Starting a thread takes as long as verifying this many runs. */
const MIN_RUNS_PER_THREAD = 100
/** A thread verifies this many runs concurrently: it waits for the disk most of the time. */
const RUNS_IN_FLIGHT = 8

/** The runs to verify, and what is known about them. */
export interface VerifyJob {
  readonly root: string
  readonly runs: readonly string[]
  readonly known: (run: string) => readonly KnownHead[]
  /** The last event of a run in the store; absent without a store. */
  readonly lastInStore?: (run: string) => Promise<number>
}

/** Reports that are made in threads, in the order of the runs; `undefined` for a run that has to be verified here. */
export class VerifyThreads {
  readonly #job: VerifyJob
  readonly #threads: readonly Worker[]
  readonly #reports: readonly Promise<VerifyReport | undefined>[]
  readonly #resolves: ((report: VerifyReport | undefined) => void)[] = []
  #next = 0

  constructor(job: VerifyJob) {
    this.#job = job
    this.#reports = job.runs.map((_, index) => new Promise((resolve) => (this.#resolves[index] = resolve)))
    const count = Math.min(availableParallelism(), Math.floor(job.runs.length / MIN_RUNS_PER_THREAD))
    // One thread has no advantage over this one.
    this.#threads = Array.from({ length: count > 1 ? count : 0 }, () => this.#start())
  }

  /** The report of a run by its index. */
  report(index: number): Promise<VerifyReport | undefined> | undefined {
    return this.#threads.length > 0 ? this.#reports[index] : undefined
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.terminate()))
  }

  #start(): Worker {
    const { root, lastInStore } = this.#job
    const { file, flags } = ownModule('runtime/records/log/verify-worker')
    const workerData: VerifyThread = { root, hasStore: lastInStore !== undefined }
    const thread = new Worker(file, { workerData, env: {}, execArgv: [...flags] })
    const inFlight = new Set<number>()
    const verifyNext = () => {
      if (this.#next >= this.#job.runs.length) return
      const index = this.#next++
      const run = this.#job.runs[index]!
      inFlight.add(index)
      send(thread, { type: 'verify', index, run, known: this.#job.known(run) })
    }
    thread.on('message', (answer: VerifyAnswer) => {
      if (answer.type === 'last-in-store') {
        void this.#answerLast(thread, answer)
        return
      }
      inFlight.delete(answer.index)
      this.#resolves[answer.index]!(answer.report)
      verifyNext()
    })
    const end = () => {
      for (const index of inFlight) this.#resolves[index]!(undefined)
      // Other threads may have failed, too: nothing is left for a thread to take.
      for (; this.#next < this.#job.runs.length; this.#next++) this.#resolves[this.#next]!(undefined)
    }
    thread.on('error', end)
    thread.on('exit', end)
    for (let count = 0; count < RUNS_IN_FLIGHT; count++) verifyNext()
    return thread
  }

  async #answerLast(thread: Worker, { index, run }: { readonly index: number; readonly run: string }): Promise<void> {
    const seq = await this.#job.lastInStore?.(run).catch(() => undefined)
    send(thread, { type: 'last-in-store', index, seq })
  }
}

function send(thread: Worker, request: VerifyRequest): void {
  thread.postMessage(request)
}
