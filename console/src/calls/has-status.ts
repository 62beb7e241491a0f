import type { CallEntry } from '../api/types.ts'
import { isFailure } from './is-failure.ts'

/** Whether a call has the status that a filter asks for; '' is any, `failed` every kind of failure. */
export function hasStatus(call: CallEntry, wanted: string): boolean {
  if (wanted === 'failed') return isFailure(call.status)
  return wanted === '' || call.status === wanted
}
