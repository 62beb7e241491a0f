import { parentPort } from 'node:worker_threads'
import { messageOf } from '@tool-hub/core'
import { extractPage, type PageJob, type PageReply } from './extract-page.ts'

// The thread in which pages are read, one after another. `page-workers.ts` starts and ends it.
parentPort?.on('message', (job: PageJob) => parentPort?.postMessage(replyTo(job)))

function replyTo(job: PageJob): PageReply {
  try {
    return { page: extractPage(job) }
  } catch (thrown) {
    return { failure: messageOf(thrown) }
  }
}
