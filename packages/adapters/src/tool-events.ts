import type { CallEvent, ToolResult } from '@tool-hub/core'
import type { CallEnded, CallInterrupted, CallStarted, EventBody, RecordedLine } from '@tool-hub/runtime/records/log'

interface OfTool {
  /** Id of the call, as records name it. */
  readonly callId: string
  /** Canonical name of the tool. */
  readonly tool: string
  /** The run of the call; absent if the source does not contain it. */
  readonly run?: string
  /** When it happened, as ISO 8601; only for recorded lines. */
  readonly time?: string
}

interface EndOfTool extends OfTool {
  /** How the call ended: the `status` of its result, or `interrupted` if its process died. */
  readonly status: string
  /** How often the call was tried; absent if its process died. */
  readonly attempts?: number
  /** Time from the start of the call to its end; absent if its process died. */
  readonly durationMs?: number
  /** What the call did, in one line. Events carry no data; large results are artifacts. */
  readonly summary: string
  /** References of what was stored, `artifact:<sha256>`. */
  readonly artifacts: readonly string[]
}

/** The call was allowed, and its tool starts now. */
export interface ToolStarted extends OfTool {
  readonly type: 'tool.started'
}

/** The call succeeded. */
export interface ToolCompleted extends EndOfTool {
  readonly type: 'tool.completed'
}

/** The call failed or was refused; if it was refused, there was no `tool.started`. */
export interface ToolFailed extends EndOfTool {
  readonly type: 'tool.failed'
  /** Why; `ABORTED` if the process died before the call ended. */
  readonly error: { readonly code: string; readonly message: string }
}

/** The start of a call and its end, as event buses of agent frameworks name them. */
export type ToolEvent = ToolStarted | ToolCompleted | ToolFailed

/** A line of `events.jsonl`, read as JSON. */
type StoredLine = EventBody & { readonly time?: string }

/** A line with its run, from `hub.onRecord` or built from a file. */
type LineOfRun = Pick<RecordedLine, 'run' | 'time' | 'event'>

/**
 * Converts an event of `hub.onEvent` or `hub.stream`, or a recorded line, to `tool.started`, `tool.completed` and
 * `tool.failed`. Returns an empty list for all other events and for dry runs. The record of a quick call is one line,
 * which yields both its start and its end.
 * @example
 * hub.onEvent((event) => { for (const each of toToolEvents(event)) bus.emit(each.type, each) })
 */
export function toToolEvents(source: CallEvent | LineOfRun | StoredLine): readonly ToolEvent[] {
  if ('event' in source) return ofRecord(source.event, { run: source.run, time: source.time })
  if (source.type === 'call-ended' && 'result' in source) return source.result.meta.dryRun ? [] : [ofResult(source)]
  return ofRecord(source as StoredLine, 'time' in source ? { time: source.time } : {})
}

function ofResult({ callId, result }: CallEvent & { readonly result: ToolResult }): ToolEvent {
  const { tool, status, summary, meta, error } = result
  const artifacts = result.artifacts.map(({ ref }) => ref)
  const { durationMs, attempts } = meta
  return endOf({ callId, tool, status, durationMs, attempts, summary, artifacts, error })
}

type Place = Pick<OfTool, 'run' | 'time'>

function ofRecord(event: EventBody, place: Place): readonly ToolEvent[] {
  switch (event.type) {
    case 'call-started':
      return event.dryRun ? [] : [startOf(event, place)]
    case 'call-ended': {
      if (event.dryRun) return []
      const { callId, tool, status, durationMs, attempts = 1, summary = '', artifacts = [], error } = event
      const end = endOf({ callId, tool, ...place, status, durationMs, attempts, summary, artifacts, error })
      return isWholeExecution(event) ? [startOf(event, earlier(place, durationMs)), end] : [end]
    }
    case 'call-interrupted':
      return [interrupted(event, place)]
    default:
      return []
  }
}

function startOf({ callId, tool }: CallStarted | CallEnded, place: Place): ToolStarted {
  return { type: 'tool.started', callId, tool, ...place }
}

function endOf({ error, ...end }: EndOfTool & { readonly error?: ToolFailed['error'] }): ToolCompleted | ToolFailed {
  if (!error) return { type: 'tool.completed', ...end }
  return { type: 'tool.failed', ...end, error: { code: error.code, message: error.message } }
}

function interrupted({ callId, tool, status }: CallInterrupted, place: Place): ToolFailed {
  const message = 'The process died before the call ended; its effects are unknown.'
  const error = { code: 'ABORTED', message }
  return { type: 'tool.failed', callId, tool, ...place, status, summary: message, artifacts: [], error }
}

function earlier({ run, time }: Place, durationMs: number): Place {
  const at = Date.parse(time ?? '')
  if (!Number.isFinite(at)) return { run, time }
  return { run, time: new Date(at - durationMs).toISOString() }
}

/** The fields that show whether a tool was executed. */
interface Outcome {
  readonly status: string
  readonly effect?: string
  readonly approvedBy?: string
  readonly code?: string
}

/** Whether the tool of an ended call was executed: a rule or a person allowed it, and no limit stopped it. */
export function wasExecuted({ status, effect, approvedBy, code = '' }: Outcome): boolean {
  if (status === 'denied' || status === 'approval_required' || LIMIT_CODES.has(code)) return false
  return effect === 'allow' || (effect === 'ask' && approvedBy !== undefined)
}

/** A line with the facts of its call is the only line of that call. */
function isWholeExecution({ caller, cached, status, effect, approvedBy, error }: CallEnded): boolean {
  return caller !== undefined && !cached && wasExecuted({ status, effect, approvedBy, code: error?.code })
}

/** The end of a call as agent loops emit it. */
export interface ToolResultEvent {
  readonly type: 'tool-result'
  /** Id of the call, as records name it. */
  readonly toolCallId: string
  /** Canonical name of the tool. */
  readonly toolName: string
  /** The data of a successful call, or the message of a failed one. */
  readonly output: unknown
  /** Whether the call failed. */
  readonly isError: boolean
}

/**
 * Converts a `call-ended` event to a `tool-result`. Returns `undefined` for other events.
 * @example
 * hub.onEvent((event) => { const result = toToolResultEvent(event); if (result) loop.emit(result.type, result) })
 */
export function toToolResultEvent(event: CallEvent): ToolResultEvent | undefined {
  if (event.type !== 'call-ended') return undefined
  const { result } = event
  const output = result.ok ? result.data : result.error.message
  return { type: 'tool-result', toolCallId: event.callId, toolName: result.tool, output, isError: !result.ok }
}

/** The end of a call in the form of a classical audit log. */
export interface AuditEvent {
  /** `tool_refused`: never executed, for a reason other than the policy (unknown tool, bad arguments, a limit). */
  readonly type: 'tool_executed' | 'policy_denied' | 'tool_refused'
  /** Name of the tool. */
  readonly action: string
  /** The arguments as JSON, redacted; absent if the line does not repeat them. */
  readonly resource?: string
  /** `denied` if a rule or a person refused it or it still needs an approval, `error` for every other failure. */
  readonly result: 'success' | 'error' | 'denied'
  /** Ids, caller, rule and times of the call; `duration_ms` in milliseconds. */
  readonly metadata: Readonly<Record<string, unknown>> & { readonly duration_ms: number }
}

/**
 * Converts a recorded line to an audit event. Returns `undefined` for lines that are not the end of a call, and for
 * dry runs.
 * @example
 * hub.onRecord((line) => { const event = toAuditEvent(line); if (event) audit.log(event) })
 */
export function toAuditEvent(line: RecordedLine | StoredLine): AuditEvent | undefined {
  const event = 'event' in line ? line.event : line
  if (event.type !== 'call-ended' || event.dryRun) return undefined
  const { args, tool: action } = event
  const { time } = line
  const run = 'event' in line ? line.run : undefined
  return {
    type: typeOf(event),
    action,
    ...(args !== undefined && { resource: JSON.stringify(args) }),
    result: resultOf(event),
    metadata: metadataOf(event, { run, time }),
  }
}

/** Codes of calls that the policy allowed and a limit stopped. */
const LIMIT_CODES: ReadonlySet<string> = new Set(['RATE_LIMITED', 'BUDGET_EXCEEDED', 'CIRCUIT_OPEN', 'LOOP_DETECTED'])

function typeOf(event: CallEnded): AuditEvent['type'] {
  if (resultOf(event) === 'denied') return 'policy_denied'
  // A line with the facts of its call but no decision ended before the policy decided.
  const isUnjudged = event.caller !== undefined && event.effect === undefined
  return isUnjudged || LIMIT_CODES.has(event.error?.code ?? '') ? 'tool_refused' : 'tool_executed'
}

function resultOf({ status }: CallEnded): AuditEvent['result'] {
  if (status === 'denied' || status === 'approval_required') return 'denied'
  return status === 'ok' || status === 'pending' || status === 'running' ? 'success' : 'error'
}

function metadataOf(event: CallEnded, place: { readonly run?: string; readonly time?: string }) {
  const { durationMs, callId, caller, rule, approvedBy, error } = event
  const known = { call_id: callId, ...place, caller, rule, approved_by: approvedBy, error: error?.code }
  const present = Object.entries(known).filter(([, value]) => value !== undefined)
  return { duration_ms: durationMs, ...Object.fromEntries(present) }
}
