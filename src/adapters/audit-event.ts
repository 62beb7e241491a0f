import type { CallEnded, EventBody, RecordedLine } from '../records/log/index.ts'

/** What happened to a call, in the form of a classical audit log. */
export interface AuditEvent {
  /** `tool_refused`: never executed, for another reason than the policy (unknown tool, bad arguments, a limit). */
  readonly type: 'tool_executed' | 'policy_denied' | 'tool_refused'
  /** The tool. */
  readonly action: string
  /** The arguments as JSON, redacted; absent where the line does not repeat them. */
  readonly resource?: string
  /**
   * `denied` for what a rule or a person refused and for what still needs an approval, `error` for every other failure.
   */
  readonly result: 'success' | 'error' | 'denied'
  /** Ids, caller, rule and times of the call; `duration_ms` in milliseconds. */
  readonly metadata: Readonly<Record<string, unknown>> & { readonly duration_ms: number }
}

/** A line of `events.jsonl`, read as JSON. */
type StoredLine = EventBody & { readonly time?: string }

/**
 * The audit event of a recorded line; `undefined` for lines that are not the end of a call, and for dry runs.
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

/** Codes of calls that the policy let through and a limit did not. */
export const LIMIT_CODES: ReadonlySet<string> = new Set([
  'RATE_LIMITED',
  'BUDGET_EXCEEDED',
  'CIRCUIT_OPEN',
  'LOOP_DETECTED',
])

function typeOf(event: CallEnded): AuditEvent['type'] {
  if (resultOf(event) === 'denied') return 'policy_denied'
  // A line that has the facts of its call and no decision among them ended before the policy was asked.
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
  const said = Object.entries(known).filter(([, value]) => value !== undefined)
  return { duration_ms: durationMs, ...Object.fromEntries(said) }
}
