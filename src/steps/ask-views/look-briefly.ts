import { ToolError } from '../../errors.ts'
import { untilAborted } from '../../value/until-aborted.ts'
import type { Call } from '../call.ts'
import type { Parts } from '../parts.ts'

const MOST_MS = 2_000

/** Looks at something for whoever is asked, not longer than two seconds and not past the end of the call. */
export async function lookBriefly<T>(
  { clock }: Parts,
  call: Call,
  look: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const cancelTimer = clock.after(MOST_MS, () => {
    controller.abort(new ToolError('TIMEOUT', `It took longer than ${MOST_MS} ms.`))
  })
  const stopListening = call.onStop((reason) => controller.abort(reason))
  try {
    return await untilAborted(look(controller.signal), controller.signal)
  } finally {
    cancelTimer()
    stopListening()
    // Whoever kept the handle looks at nothing any more.
    controller.abort()
  }
}
