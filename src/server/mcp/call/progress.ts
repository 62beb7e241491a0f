import type { ServerContext } from '@modelcontextprotocol/server'
import { type CallEvent, type Clock, callerGone, textOfBlock } from '../../../core/index.ts'
import { shownLine, shownText } from '../elicitation/forms.ts'
import type { AwaitedPerson, OngoingCall } from './ongoing-call.ts'

/** The client's token for the progress of a request. */
export type ProgressToken = string | number

const BURST = 50
const PER_SECOND = 20
const MAX_CHARS = 2_000

/** Sends progress for events, and keeps a silent request alive. */
export interface ReportProgress {
  (event: CallEvent): void
  readonly keepAlive: (message: string) => void
}

/**
 * Sends the progress of a call, with increasing numbers. The rate is limited, so that a command with much output does
 * not flood the client.
 */
export function createProgressReport(context: ServerContext, token: ProgressToken, clock: Clock): ReportProgress {
  let progress = 0
  let tokens = BURST
  let filledAt = clock.now()
  const notify = (message: string) => {
    const params = { progressToken: token, progress, message }
    // The client has disconnected; its call is aborted elsewhere.
    context.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
  }
  const report = (event: CallEvent) => {
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
  return Object.assign(report, { keepAlive })
}

/** Returns the progress message of an event; `undefined` if it has none. */
export function progressOf(event: CallEvent): string | undefined {
  if (event.type === 'call-pending') return shownText(event.message, MAX_CHARS)
  if (event.type !== 'call-progressed') return undefined
  return shownText(event.content.map(textOfBlock).join('\n'), MAX_CHARS)
}

/** The default request timeout of MCP clients is 60 s. */
const ANSWER_MS = 45_000
const BEAT_MS = 15_000

/**
 * Keeps a request alive while its call waits for a person. A client with a progress token is notified every 15 s; any
 * other gets a response after 45 s, before it times out, and repeats the call to continue waiting. Returns a function
 * that stops it.
 */
export function answerInTime(
  call: OngoingCall,
  {
    name,
    clock,
    report,
  }: { readonly name: string; readonly clock: Clock; readonly report: ReportProgress | undefined },
): () => void {
  let cancel = () => {}
  const beat = (afterMs: number) => {
    cancel = clock.after(afterMs, look, { background: true })
  }
  const look = () => {
    const { waitsFor } = call
    if (report) report.keepAlive(waitsFor === undefined ? `${shownLine(name)} is running.` : stillWaits(name, waitsFor))
    else if (waitsFor !== undefined) return call.leave(waitingReason(name, waitsFor))
    beat(BEAT_MS)
  }
  beat(report ? BEAT_MS : ANSWER_MS)
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
