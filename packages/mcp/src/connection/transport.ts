import type { Transport } from '@modelcontextprotocol/client'
import type { Clock, ToolError } from '@tool-hub/core'

/** The longest message of a server, in bytes. */
export const MAX_MESSAGE_BYTES = 10_000_000

/** A transport of the SDK that may know why it ended. */
export type OpenTransport = Transport & {
  readonly reason?: ToolError | undefined
  terminateSession?(): Promise<void>
  describeOutput?(): string
}

/** Waits without keeping the process alive. Rejects with the signal's reason if it aborts. */
export function waitUnlessAborted(ms: number, clock: Clock, signal?: AbortSignal): Promise<undefined> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      cancel()
      reject(signal?.reason)
    }
    const finish = () => {
      signal?.removeEventListener('abort', stop)
      resolve(undefined)
    }
    const cancel = clock.after(ms, finish, { background: true })
    signal?.addEventListener('abort', stop)
    if (signal?.aborted) stop()
  })
}
