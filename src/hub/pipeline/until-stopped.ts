import { ToolError } from '../../core/index.ts'
import type { Call } from './call.ts'
import type { Parts } from './parts.ts'

/** Waits for work, but not past an abort of the call. */
export function untilStopped<T>(call: Call, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const finish = () => {
      call.onAbort = undefined
    }
    call.onAbort = (reason) => {
      finish()
      reject(reason)
    }
    work.then(resolve, reject).finally(finish)
    if (call.abortReason) call.onAbort(call.abortReason)
  })
}

/** Waits for what surrounds a tool (a schema that asks somebody, a plugin's set-up): not past an abort, and not for ever. */
export function bounded<T>({ clock, settings }: Parts, call: Call, work: Promise<T>): Promise<T> {
  const { timeoutMs } = settings
  const cancel = clock.after(timeoutMs, () => {
    call.abort(new ToolError('TIMEOUT', `What surrounds ${call.name} did not answer within ${timeoutMs} ms.`))
  })
  return untilStopped(call, work).finally(cancel)
}
