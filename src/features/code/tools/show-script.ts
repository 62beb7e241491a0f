import type { Context } from '../../../core/index.ts'
import type { ScriptCallEntry, ScriptResult } from '../types.ts'

const MAX_SHOWN_CALLS = 20

/** The result of a script as a model reads it: the value first, and the calls only if something went wrong. */
export function showScript(result: ScriptResult): string {
  const { script, status, logs, calls } = result
  const lines: string[] = []
  if (status === 'completed') lines.push(JSON.stringify(result.value) ?? 'null')
  if (status === 'suspended')
    lines.push(`Script ${script} is suspended until people approve: ${(result.approvals ?? []).join(', ')}.`)
  if (status === 'running') lines.push(`Script ${script} is still running.`)
  if (status === 'cancelled') lines.push(`Script ${script} is cancelled.`)
  if (status === 'failed') lines.push(describeFailure(result))
  if (logs.length > 0) lines.push(`Logs:\n${logs.join('\n')}`)
  if (status !== 'completed' && status !== 'running') lines.push(describeCalls(calls))
  if (status === 'suspended') lines.push(`Continue with core/code.wait {"script":"${script}"}.`)
  return lines.join('\n')
}

function describeFailure({ kind, message, line, column, hint }: ScriptResult): string {
  const place = line === undefined ? '' : ` (line ${line}${column === undefined ? '' : `, column ${column}`})`
  return `Failed: ${kind}${place}: ${message}${hint === undefined ? '' : `\n${hint}`}`
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

/** Says in one line what became of a script, for records and people; returns the result. */
export function noteOutcome(result: ScriptResult, ctx: Pick<Context<'code'>, 'evidence'>): ScriptResult {
  ctx.evidence({ type: 'tool', ref: result.script, summary: summarize(result) })
  return result
}

function summarize({ status, calls, approvals = [], kind, line }: ScriptResult): string {
  const count = (amount: number) => (amount === 1 ? '1 call' : `${amount} calls`)
  if (status === 'running') return 'still running'
  if (status === 'suspended') return `suspended, ${count(approvals.length)} to approve`
  const place = line === undefined ? '' : ` in line ${line}`
  return `${status}${kind === undefined ? '' : ` with ${kind}${place}`} after ${count(calls.length)}`
}
