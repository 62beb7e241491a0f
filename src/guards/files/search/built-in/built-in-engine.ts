import { ToolError } from '../../../../errors.ts'
import { ownModule } from '../../../../own-file.ts'
import { startWorker } from '../../../worker/start-worker.ts'
import { Turns } from '../../../worker/turns.ts'
import { fileAccess } from '../../access/choose-access.ts'
import type { Engine, Place, Sink } from '../engine.ts'
import type { WorkerMessage, WorkerTask } from './search-worker.ts'

const MAX_WORKERS = 2
const MAX_MEMORY_MB = 512

const turns = new Turns(MAX_WORKERS)

/** Searches without ripgrep, slower, in a thread of its own. */
export function builtInEngine(): Engine {
  const run = async (task: WorkerTask, sink: Sink, signal: AbortSignal): Promise<void> => {
    await turns.take(signal)
    try {
      await runWorker(task, sink, signal)
    } finally {
      turns.end()
    }
  }
  return {
    name: 'built-in',
    search: (place, job, sink, signal) => run(taskOf(place, job), sink, signal),
    find: (place, job, sink, signal) => run(taskOf(place, job), sink, signal),
  }
}

function taskOf({ descriptor, file, rulesAbove }: Place, job: WorkerTask['job']): WorkerTask {
  return { descriptor, shared: fileAccess.share(descriptor), file, rulesAbove, job }
}

/** Runs one worker to its end. When this returns or throws, the thread is gone and what it had opened is closed. */
async function runWorker(task: WorkerTask, sink: Sink, signal: AbortSignal): Promise<void> {
  const worker = startWorker(ownModule('guards/files/search/built-in/search-worker'), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
  })
  const stop = new AbortController()
  try {
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => resolve(), { signal: stop.signal })
      if (signal.aborted) resolve()
      worker.once('error', (cause) => reject(failed(cause)))
      worker.once('exit', () => resolve())
      worker.on('message', (message: WorkerMessage) => {
        try {
          if (!take(message, sink)) resolve()
        } catch (error) {
          reject(error)
        }
      })
    })
  } finally {
    stop.abort()
    worker.removeAllListeners('message')
    await worker.terminate()
  }
}

/** False when nothing more is wanted. */
function take(message: WorkerMessage, sink: Sink): boolean {
  if (message.type === 'done') return false
  if (message.type === 'invalid') throw invalid(message.reason)
  if (message.type === 'unreadable') sink.skip(1)
  return message.type !== 'file' || !sink.admits(message.found.file) || sink.take(message.found)
}

function invalid(reason: string): ToolError {
  const text = reason.replace('error parsing regexp: ', '')
  return new ToolError('INPUT_SCHEMA_INVALID', `The pattern cannot be used: ${text}`, {
    hint: 'Use a regular expression without look-around and backreferences, or plain text.',
  })
}

function failed(cause: unknown): ToolError {
  return new ToolError('UPSTREAM_ERROR', 'The built-in search failed; it may have run out of memory.', {
    hint: 'Search fewer files, or install the optional package of ripgrep for this platform.',
    cause,
  })
}
