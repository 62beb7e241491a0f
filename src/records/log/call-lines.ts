import { type CallEnded, type CallInterrupted, type EventBody, hasFailed } from './events.ts'

const TYPE = '{"type":"'

const CALL = '","callId":"'

const TOOL = '","tool":"'

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

/**
 * One line for a call: the facts of its start, then those of its end. Both are JSON already, so their texts are joined;
 * only what does not begin as we write it, or repeats facts, is parsed.
 */
export function joinCall(
  started: string | undefined,
  ended: CallEnded | CallInterrupted,
  { seq, time, body }: { readonly seq: number; readonly time: string; readonly body: string },
): string {
  const end = factsStart(body, ended.type, ended)
  const start = started === undefined ? 0 : factsStart(started, 'call-started', ended)
  if (end === -1 || start === -1 || (started !== undefined && 'caller' in ended)) return merge(started, seq, time, body)
  const call = body.slice(ended.type.length + TYPE.length + 2, end)
  const facts = started === undefined ? '' : started.slice(start, -1)
  return `{"seq":${seq},"time":"${time}",${call}${facts}${body.slice(end)}\n`
}

/** Where the facts begin behind type, call and tool; -1 when the text does not begin with these. */
function factsStart(text: string, type: string, { callId, tool }: CallEnded | CallInterrupted): number {
  const call = TYPE.length + type.length + CALL.length
  const name = call + callId.length + TOOL.length
  const end = name + tool.length
  const isOurs =
    text.startsWith(type, TYPE.length) &&
    text.startsWith(CALL, call - CALL.length) &&
    text.startsWith(callId, call) &&
    text.startsWith(TOOL, name - TOOL.length) &&
    text.startsWith(tool, name) &&
    text.charAt(end) === '"'
  return isOurs ? end + 1 : -1
}

function merge(started: string | undefined, seq: number, time: string, body: string): string {
  const { type: _, ...fields } = { ...JSON.parse(started ?? '{}'), ...JSON.parse(body) }
  return `${JSON.stringify({ seq, time, ...fields })}\n`
}
