import type { IndexedCall } from '../../store.ts'
import { isFailure } from '../rules/index-call.ts'
import { searchedText } from '../rules/searched-text.ts'
import type { Bindable } from './connection.ts'

/** A call as the table has it. */
export interface CallRow {
  readonly call_id: string
  readonly run: string
  readonly seq: number
  readonly tool: string
  readonly caller: string
  readonly principal: string | null
  readonly parent: string | null
  readonly status: string
  readonly started_at: number
  readonly duration_ms: number | null
  readonly effect: string | null
  readonly rule: string | null
  readonly error: string | null
  readonly summary: string | null
  readonly targets: string | null
  readonly approved_by: string | null
  readonly purpose: string | null
  readonly request: string | null
}

/** All columns of a call that are given back. */
export const CALL_COLUMNS =
  'call_id, run, seq, tool, caller, principal, parent, status, started_at, duration_ms, effect, rule, error, summary, targets, approved_by, purpose, request'

/** The values of a call in the order of its columns, then whether it failed, and the text that is searched. */
export function callValues(call: IndexedCall): Bindable[] {
  const { callId, run, seq, tool, caller, principal, parent, status, startedAt, durationMs } = call
  const { effect, rule, error, summary, targets, approvedBy, purpose, request } = call
  const said = [callId, run, seq, tool, caller, principal, parent, status, startedAt, durationMs, effect, rule, error]
  const rest = [summary, targets && JSON.stringify(targets), approvedBy, purpose, request]
  return [...said, ...rest, Number(isFailure(status)), searchedText(call)]
}

/** The call of a row. */
export function toCall(row: CallRow): IndexedCall {
  const { call_id, run, seq, tool, caller, principal, parent, status, started_at, duration_ms } = row
  const { effect, rule, error, summary, targets, approved_by, purpose, request } = row
  return {
    callId: call_id,
    run,
    seq,
    tool,
    caller,
    ...(principal !== null && { principal }),
    ...(parent !== null && { parent }),
    status,
    startedAt: started_at,
    ...(duration_ms !== null && { durationMs: duration_ms }),
    ...(effect !== null && { effect }),
    ...(rule !== null && { rule }),
    ...(error !== null && { error }),
    ...(summary !== null && { summary }),
    ...(targets !== null && { targets: JSON.parse(targets) as string[] }),
    ...(approved_by !== null && { approvedBy: approved_by }),
    ...(purpose !== null && { purpose }),
    ...(request !== null && { request }),
  }
}

/** Records hold what models and tools said: one odd character must not keep a whole batch out of the index. */
export function withoutNul(call: IndexedCall): IndexedCall {
  const entries = Object.entries(call)
  if (!entries.some(([, value]) => hasNul(value))) return call
  return Object.fromEntries(
    entries.map(([name, value]) => [name, hasNul(value) ? value.replaceAll('\0', '\ufffd') : value]),
  ) as unknown as IndexedCall
}

function hasNul(value: unknown): value is string {
  return typeof value === 'string' && value.includes('\0')
}
