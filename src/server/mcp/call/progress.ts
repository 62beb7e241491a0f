import type { ServerContext } from '@modelcontextprotocol/server'
import { type CallEvent, type Clock, callerGone, textOfBlock } from '../../../core/index.ts'
import { shownLine, shownText } from '../elicitation/forms.ts'
import type { AwaitedPerson, OngoingCall } from './ongoing-call.ts'

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

/** MCP clients give up a request after 60 s by default. */
const ANSWER_MS = 45_000
const BEAT_MS = 15_000

/**
 * Keeps a request alive while its call waits for a person. A client that gave a progress token hears every 15 s that the call
 * still waits; any other is answered after 45 s, before it gives up, and repeats the call to continue waiting. Returns
 * how to stop.
 */
export function answerInTime(
  call: OngoingCall,
  { name, clock, tell }: { readonly name: string; readonly clock: Clock; readonly tell: TellProgress | undefined },
): () => void {
  let cancel = () => {}
  const beat = (afterMs: number) => {
    cancel = clock.after(afterMs, look, { background: true })
  }
  const look = () => {
    const { waitsFor } = call
    if (tell) tell.keepAlive(waitsFor === undefined ? `${shownLine(name)} is running.` : stillWaits(name, waitsFor))
    else if (waitsFor !== undefined) return call.leave(waitingReason(name, waitsFor))
    beat(BEAT_MS)
  }
  beat(tell ? BEAT_MS : ANSWER_MS)
  return () => cancel()
}

function stillWaits(name: string, { what, id }: AwaitedPerson): string {
  return `${shownLine(name)} waits for ${what} (${id}).`
}

function waitingReason(name: string, awaited: AwaitedPerson) {
  return callerGone(`${stillWaits(name, awaited)} Nobody has answered yet.`, {
    code: 'APPROVAL_UNAVAILABLE',
    hint: 'Nothing was executed. Repeat the same call with the same arguments to continue waiting; do not change it.',
    details: { ...(awaited.what === 'an approval' && { approval: awaited.id }), waits: true },
  })
}
