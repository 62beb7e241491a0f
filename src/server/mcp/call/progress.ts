import type { ServerContext } from '@modelcontextprotocol/server'
import { type CallEvent, type Clock, textOfBlock } from '../../../core/index.ts'
import { shownText } from '../elicitation/shown-text.ts'

/** By which a client knows whose progress it hears. */
export type ProgressToken = string | number

const BURST = 50
const PER_SECOND = 20
const MAX_CHARS = 2_000

/** Tells a client of events, and that a call which is silent has not ended. */
export interface TellProgress {
  (event: CallEvent): void
  readonly keepAlive: (message: string) => void
}

/**
 * Tells a client how far its call is, in growing numbers. A command that prints without end does not flood it: then
 * some are left out.
 */
export function tellProgress(context: ServerContext, token: ProgressToken, clock: Clock): TellProgress {
  let progress = 0
  let tokens = BURST
  let filledAt = clock.now()
  const notify = (message: string) => {
    const params = { progressToken: token, progress, message }
    // A client that is gone hears nothing; its call is stopped elsewhere.
    context.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
  }
  const tell = (event: CallEvent) => {
    const message = progressOf(event)
    if (message === undefined) return
    progress++
    const now = clock.now()
    tokens = Math.min(BURST, tokens + ((now - filledAt) * PER_SECOND) / 1_000)
    filledAt = now
    if (tokens < 1) return
    tokens--
    notify(message)
  }
  const keepAlive = (message: string) => {
    progress++
    notify(message)
  }
  return Object.assign(tell, { keepAlive })
}

/** What an event says of how far the call is; undefined when it says nothing of it. */
export function progressOf(event: CallEvent): string | undefined {
  if (event.type === 'call-pending') return shownText(event.message, MAX_CHARS)
  if (event.type !== 'call-progressed') return undefined
  return shownText(event.content.map(textOfBlock).join('\n'), MAX_CHARS)
}
