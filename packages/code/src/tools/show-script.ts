import { type Context, type ErrorCode, ToolError } from '@tool-hub/core'
import type { ScriptCallEntry, ScriptResult } from '../types.ts'

const MAX_SHOWN_CALLS = 20
const MAX_EVIDENCE = 100

/** Failures of scripts that errors of calls have, too. */
const CODES: ReadonlySet<string> = new Set<ErrorCode>(['POLICY_DENIED', 'APPROVAL_DENIED', 'TIMEOUT', 'ABORTED'])

/** The result of a script as a model reads it: the value first, and the calls only if something went wrong. */
export function showScript(result: ScriptResult): string {
  const { script, status, logs, calls } = result
  const lines: string[] = []
  if (status === 'completed') lines.push(JSON.stringify(result.value) ?? 'null')
  if (status === 'suspended')
    lines.push(`Script ${script} is suspended until people approve: ${(result.approvals ?? []).join(', ')}.`)
  if (status === 'running') lines.push(`Script ${script} is still running.`)
  if (status === 'cancelled') lines.push(`Script ${script} is cancelled.`)
  if (status === 'failed') lines.push(`${failureCode(result)}: ${describeFailure(result)}`)
  if (logs.length > 0) lines.push(`Logs:\n${logs.join('\n')}`)
  if (status !== 'completed' && status !== 'running') lines.push(describeCalls(calls))
  if (status === 'suspended') lines.push(`Continue with core/code.wait {"script":"${script}"}.`)
  return lines.join('\n')
}

/** The code of the error with which the call of a failed script ends. */
export function failureCode({ kind }: ScriptResult): ErrorCode {
  return kind !== undefined && CODES.has(kind) ? (kind as ErrorCode) : 'TOOL_FAILED'
}

function describeFailure(result: ScriptResult): string {
  const { hint } = result
  return `The script failed with ${failureOf(result)}${hint === undefined ? '' : `\n${hint}`}`
}

/** Why and where a script failed. */
export function failureOf({ kind, message, line, column }: ScriptResult): string {
  const place = line === undefined ? '' : ` (line ${line}${column === undefined ? '' : `, column ${column}`})`
  return `${kind}${place}: ${message}`
}

/** The calls of a script, one line each; of many, the last ones. */
export function describeCalls(calls: readonly ScriptCallEntry[]): string {
  if (calls.length === 0) return 'No call was made.'
  const shown = calls.slice(-MAX_SHOWN_CALLS).map(describeCall)
  const more = calls.length > shown.length ? ` (the last ${shown.length} of ${calls.length})` : ''
  return `Calls that were made${more}:\n${shown.join('\n')}`
}

function describeCall({ seq, tool, line, status, error }: ScriptCallEntry): string {
  return `${seq}. ${tool}${line === undefined ? '' : ` (line ${line})`}: ${error ?? status}`
}

/** Records what became of a script in one line, and refers to its calls, whose records have their own evidence. */
export function noteOutcome(result: ScriptResult, ctx: Pick<Context<'code'>, 'evidence'>): ScriptResult {
  ctx.evidence({ type: 'tool', ref: result.script, summary: summarize(result) })
  const made = result.calls.filter(({ callId }) => callId !== undefined)
  for (const { callId, tool, line, status } of made.slice(0, MAX_EVIDENCE))
    ctx.evidence({
      type: 'tool',
      ref: callId!,
      summary: `${tool}${line === undefined ? '' : ` in line ${line}`}: ${status}`,
    })
  const more = made.length - MAX_EVIDENCE
  if (more > 0) ctx.evidence({ type: 'tool', ref: result.script, summary: `${more} more calls` })
  return result
}

/** The result of a script as that of its call. Throws if the script failed; the result is then the data of the error. */
export function concludeScript(result: ScriptResult, ctx: Pick<Context<'code'>, 'evidence'>): ScriptResult {
  noteOutcome(result, ctx)
  if (result.status !== 'failed') return result
  throw new ToolError(failureCode(result), `The script failed with ${failureOf(result)}`, {
    hint: result.hint ?? 'Correct the script. What its calls have done stays.',
    retryable: false,
    data: result,
  })
}

function summarize({ status, calls, approvals = [], kind, line }: ScriptResult): string {
  const count = (amount: number) => (amount === 1 ? '1 call' : `${amount} calls`)
  if (status === 'running') return 'still running'
  if (status === 'suspended') return `suspended, ${count(approvals.length)} to approve`
  const place = line === undefined ? '' : ` in line ${line}`
  return `${status}${kind === undefined ? '' : ` with ${kind}${place}`} after ${count(calls.length)}`
}
