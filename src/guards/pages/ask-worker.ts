import type { Worker } from 'node:worker_threads'
import { type Clock, systemClock } from '../../clock.ts'
import { throwIfAborted } from '../throw-if-aborted.ts'
import type { PageJob, PageReply } from './extract-page.ts'
import { pageError } from './page-error.ts'

/** How long one page may take, and who may stop it. */
export interface PageLimits {
  readonly signal: AbortSignal
  readonly timeoutMs: number
}

/** Has a worker read one page. When it fails, the worker may be busy for ever or gone: end it. */
export function askWorker(
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
