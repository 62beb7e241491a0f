import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import type { KnownHead } from './record-check.ts'
import { type VerifyReport, verifyRun } from './verify-run.ts'

// A thread that verifies runs. `verify-threads.ts` starts and ends it.

/** What the thread is asked: to verify a run; or what it asked for, the last event of a run in the store. */
export type VerifyRequest =
  | { readonly type: 'verify'; readonly index: number; readonly run: string; readonly known: readonly KnownHead[] }
  | { readonly type: 'last-in-store'; readonly index: number; readonly seq: number | undefined }

/** What the thread answers: a report, that there is none, or what it has to know for it. */
export type VerifyAnswer =
  | { readonly type: 'report'; readonly index: number; readonly report: VerifyReport | undefined }
  | { readonly type: 'last-in-store'; readonly index: number; readonly run: string }

/** How the thread is started. */
export interface VerifyThread {
  readonly root: string
  readonly hasStore: boolean
}

const port = parentPort!
const { root, hasStore } = workerData as VerifyThread
const waiting = new Map<number, (seq: number | undefined) => void>()

port.on('message', (request: VerifyRequest) => {
  if (request.type === 'verify') void verify(request)
  else waiting.get(request.index)?.(request.seq)
})

async function verify({ index, run, known }: VerifyRequest & { readonly type: 'verify' }): Promise<void> {
  const lastInStore = async () => {
    answer({ type: 'last-in-store', index, run })
    const seq = await new Promise<number | undefined>((resolve) => waiting.set(index, resolve))
    if (seq === undefined) throw new Error('The store cannot be read.')
    return seq
  }
  let report: VerifyReport | undefined
  try {
    report = await verifyRun(join(root, run), { known, lastInStore: hasStore ? lastInStore : undefined })
  } catch {
    // It is verified again where it was asked for, so that the error is the one of that thread.
  }
  waiting.delete(index)
  answer({ type: 'report', index, report })
}

function answer(message: VerifyAnswer): void {
  port.postMessage(message)
}
