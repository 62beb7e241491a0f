import type { Worker } from 'node:worker_threads'
import { type Clock, systemClock } from '../../clock.ts'
import type { ReadablePage } from '../../contracts/handles.ts'
import { ownModule } from '../../own-file.ts'
import { startWorker } from '../worker/start-worker.ts'
import { Turns } from '../worker/turns.ts'
import { askWorker, type PageLimits } from './ask-worker.ts'
import type { PageJob, PageReply } from './extract-page.ts'
import { pageError } from './page-error.ts'

/** Reads pages in threads of their own: no page holds up the process, and none takes it down. */
export interface PageWorkers {
  read(job: PageJob, limits: PageLimits): Promise<ReadablePage>
}

/** What a test sets. */
export interface PageWorkersOptions {
  readonly maxWorkers?: number
  /** How long a worker without work is kept. */
  readonly idleMs?: number
  readonly maxHeapMb?: number
  readonly clock?: Clock
}

/** Makes some workers, when they are needed; each has one page at a time, the other pages wait in order. */
export function createPageWorkers(options: PageWorkersOptions = {}): PageWorkers {
  const { maxWorkers = 2, idleMs = 10_000, maxHeapMb = 256, clock = systemClock } = options
  const turns = new Turns(maxWorkers)
  /** Workers without work, each with how to keep its timer from ending it. */
  const idle = new Map<Worker, () => void>()

  const start = (): Worker => {
    const worker = startWorker(ownModule('guards/pages/page-worker'), {
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
    })
    // Somebody must listen, or a worker that dies while it has no work takes the process along.
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
    // A page that somebody waits for keeps the process alive; a worker that might be needed again does not.
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
      // It may go on with the page for ever, so it ends; its place is free when it has.
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
