import { Worker, type WorkerOptions } from 'node:worker_threads'

/** What a worker may be given; it gets nothing of the process: no environment, no flags, no standard streams. */
export type StartWorkerOptions = Pick<WorkerOptions, 'workerData' | 'resourceLimits' | 'name' | 'transferList'>

/** Node cannot load .ts in a worker; a test run from the sources gets this hook. A release never comes here. */
const TYPESCRIPT_HOOK = '../../../test/support/load-typescript.mjs'

/**
 * Starts a module of this package in a thread of its own. The entry is named as it is in the sources, and is found
 * in the sources as well as in a build.
 * @example
 * const worker = startWorker(new URL('./page-worker.ts', import.meta.url), { resourceLimits: { maxOldGenerationSizeMb: 256 } })
 */
export function startWorker(entry: URL, options: StartWorkerOptions = {}): Worker {
  const isBuilt = !import.meta.url.endsWith('.ts')
  const file = isBuilt ? new URL(entry.href.replace(/\.ts$/, '.js')) : entry
  const execArgv = isBuilt ? [] : ['--import', new URL(TYPESCRIPT_HOOK, import.meta.url).href]
  // What a library prints stays in the worker: nobody reads these streams, since reading them keeps the process alive.
  return new Worker(file, { ...options, env: {}, execArgv, stdout: true, stderr: true })
}
