import { ToolError } from '../../../core/index.ts'
import { untilAborted } from '../../../lib/index.ts'
import type { Call } from '../call.ts'
import type { Parts } from '../parts.ts'

const MAX_MS = 2_000

/** Looks something up for the approver, for at most two seconds and not past the end of the call. */
export async function lookBriefly<T>(
  { clock }: Parts,
  call: Call,
  look: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const cancelTimer = clock.after(MAX_MS, () => {
    controller.abort(new ToolError('TIMEOUT', `It took longer than ${MAX_MS} ms.`))
  })
  const stopListening = call.onStop((reason) => controller.abort(reason))
  try {
    return await untilAborted(look(controller.signal), controller.signal)
  } finally {
    cancelTimer()
    stopListening()
    // A handle that was kept no longer works.
    controller.abort()
  }
}
