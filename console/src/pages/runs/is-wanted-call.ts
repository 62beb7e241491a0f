import type { CallEntry } from '../../api/types.ts'
import { isFailure } from '../../components/is-failure.ts'

/** Whether a call fits the filter of the timeline; '' is everything. */
export function isWantedCall(call: CallEntry, { text, status }: { text: string; status: string }): boolean {
  if (status === 'failed' ? !isFailure(call.status) : status !== '' && call.status !== status) return false
  if (text === '') return true
  const { callId, tool, summary = '', error = '', targets = [] } = call
  return [callId, tool, summary, error, ...targets].some((words) => words.toLowerCase().includes(text.toLowerCase()))
}
