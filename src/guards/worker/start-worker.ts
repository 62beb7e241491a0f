import { Worker, type WorkerOptions } from 'node:worker_threads'
import type { OwnModule } from '../../own-file.ts'

/** What a worker may be given; it gets nothing of the process: no environment, no flags, no standard streams. */
export type StartWorkerOptions = Pick<WorkerOptions, 'workerData' | 'resourceLimits' | 'name' | 'transferList'>

/**
 * Starts a module in a thread of its own.
 * @example
 * const worker = startWorker(ownModule('guards/pages/page-worker'), { resourceLimits: { maxOldGenerationSizeMb: 256 } })
 */
export function startWorker({ file, flags }: OwnModule, options: StartWorkerOptions = {}): Worker {
  // What a library prints stays in the worker: nobody reads these streams, since reading them keeps the process alive.
  return new Worker(file, { ...options, env: {}, execArgv: [...flags], stdout: true, stderr: true })
}
