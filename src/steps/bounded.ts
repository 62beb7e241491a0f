import { ToolError } from '../errors.ts'
import type { Call } from './call.ts'
import type { Parts } from './parts.ts'

/** Waits for work before or after the tool (a schema that asks somebody, a plugin's set-up): not for ever, and not past an abort. */
export function bounded<T>({ clock, settings }: Parts, call: Call, work: Promise<T>): Promise<T> {
  const { timeoutMs } = settings
  return new Promise((resolve, reject) => {
    const cancel = clock.after(timeoutMs, () => {
      call.abort(new ToolError('TIMEOUT', `What surrounds ${call.name} did not answer within ${timeoutMs} ms.`))
    })
    const finish = () => {
      cancel()
      call.onAbort = undefined
    }
    call.onAbort = (reason) => {
      finish()
      reject(reason)
    }
    work.then(resolve, reject).finally(finish)
    if (call.abortReason) call.onAbort?.(call.abortReason)
  })
}
