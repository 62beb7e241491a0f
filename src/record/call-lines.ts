import { type EventBody, hasFailed } from './events.ts'
import { joinCall } from './join-call.ts'

/** An event with what the chain gave it. */
export interface Placed {
  readonly seq: number
  readonly time: string
  /** The event's JSON. */
  readonly body: string
}

/**
 * Makes the lines of the logs from the events of a run. It uses nothing but what is in events.jsonl, so that the same
 * lines come out when a run is recorded, repaired and verified; who changes them makes older runs fail `verifyRun`.
 */
export class CallLines {
  readonly #open = new Map<string, { readonly tool: string; readonly body: string }>()
  calls = 0
  failures = 0

  /** Calls that started and have no end yet. */
  get open(): ReadonlyMap<string, { readonly tool: string }> {
    return this.#open
  }

  /** Takes up an event: remembers a start; gives the line, newline included, of the call that an end is about. */
  add(event: EventBody, placed: Placed): string | undefined {
    if (event.type === 'call-started') {
      this.#open.set(event.callId, { tool: event.tool, body: placed.body })
      return undefined
    }
    if (event.type !== 'call-ended' && event.type !== 'call-interrupted') return undefined
    const started = this.#open.get(event.callId)
    this.#open.delete(event.callId)
    this.calls++
    if (hasFailed(event.status)) this.failures++
    return joinCall(started?.body, event, placed)
  }

  /** Forgets a call whose end could not be recorded. */
  forget(callId: string): void {
    this.#open.delete(callId)
  }
}

/** The line of a failed call for the log of all calls: stack and details are in that of the failures only. */
export function withoutDetails(line: string): string {
  if (!line.includes('"stack":') && !line.includes('"details":')) return line
  const call = JSON.parse(line) as { error?: { readonly code: string; readonly message: string } }
  if (call.error === undefined) return line
  // Assigned, so that it stays where it was among the fields.
  call.error = { code: call.error.code, message: call.error.message }
  return `${JSON.stringify(call)}\n`
}
