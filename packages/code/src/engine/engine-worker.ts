import { parentPort, workerData } from 'node:worker_threads'
import { GuestScript } from './guest-script.ts'
import {
  type FromWorker,
  largeChars,
  SharedState,
  type ToWorker,
  type WorkerAnswer,
  type WorkerJob,
  type WorkerSettings,
} from './messages.ts'

// The thread in which scripts run, one after another. `script-engine.ts` starts and ends it.
const port = parentPort!
const { module, guest, shared: buffer } = workerData as WorkerSettings
const shared = new SharedState(buffer)
let current: { readonly id: number; readonly script: GuestScript } | undefined

port.on('message', (message: ToWorker) => {
  if (message.type === 'run') start(message)
  else if (message.id !== current?.id) return
  else if (message.type === 'stop') current.script.stop()
  else answer(message.id, message.answers)
})

function answer(id: number, answers: readonly WorkerAnswer[]): void {
  for (const one of answers) {
    current?.script.answer(one)
    const chars = largeChars(one)
    if (chars > 0) send({ type: 'read', id, chars })
  }
}

function start(job: WorkerJob): void {
  const { id } = job
  const script = new GuestScript(
    job,
    { module, guest, shared },
    {
      work: (calls, logs) => send({ type: 'work', id, calls, logs }),
      done: (outcome) => {
        current = undefined
        send({ type: 'done', id, outcome })
      },
    },
  )
  current = { id, script }
  void script.start()
}

function send(message: FromWorker): void {
  port.postMessage(message)
}
