import { ToolError } from '../../errors.ts'
import type { Failure } from '../../result.ts'

/** The result of a line that names no call: the same envelope as any other failure, so that readers need no second form. */
export function unreadableLine(number: number, problem: string): Failure {
  const { code, message, retryable, fix } = new ToolError('INPUT_SCHEMA_INVALID', `Line ${number} ${problem}.`, {
    hint: 'A line is {"id": …, "tool": "…", "input": {…}}.',
  })
  return {
    ok: false,
    status: 'error',
    callId: '',
    tool: '',
    summary: message,
    content: [{ type: 'text', text: `${code}: ${message} ${fix.hint}` }],
    artifacts: [],
    evidence: [{ type: 'text', ref: `line ${number}`, summary: message }],
    error: { code, message, retryable, fix },
    meta: { durationMs: 0, attempts: 0 },
  }
}
