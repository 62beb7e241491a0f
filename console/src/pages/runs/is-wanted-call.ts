import type { CallEntry } from '../../api/types.ts'
import { hasStatus } from '../../calls/has-status.ts'

/** Whether a call fits the filter of the timeline; '' is everything. */
export function isWantedCall(call: CallEntry, { text, status }: { text: string; status: string }): boolean {
  if (!hasStatus(call, status)) return false
  if (text === '') return true
  const { callId, tool, summary = '', error = '', targets = [] } = call
  return [callId, tool, summary, error, ...targets].some((words) => words.toLowerCase().includes(text.toLowerCase()))
}
