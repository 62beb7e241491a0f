import { type Clock, callerGone } from '../../../core/index.ts'
import { shownLine } from '../elicitation/shown-text.ts'
import type { AwaitedPerson, OngoingCall } from './ongoing-call.ts'
import type { TellProgress } from './progress.ts'

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
