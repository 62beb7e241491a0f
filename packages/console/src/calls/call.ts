import { countsAsFailure, isDenial, isFailure } from '@tool-hub/core/protocol/call-status'
import type { CallEntry } from '../api/types.ts'

/** What a status means, by the rules of the service, so that all counts agree. */
export { countsAsFailure, isDenial, isFailure }

/** The request of a call in one line, and its error code. The result is in its details. */
export function describeCall({ request, targets, summary, error, status }: CallEntry): string {
  const asked = request ?? targets?.join(', ') ?? (error === undefined ? summary : undefined)
  // Its status says already that it needs an approval.
  return [asked, status === 'approval_required' ? undefined : error].filter((words) => words !== undefined).join(' · ')
}

/** The options of a filter by status; the service takes `failed` for any kind of failure. */
export const CALL_STATUSES = [
  ['', 'Any status'],
  ['running', 'Running'],
  ['ok', 'Ok'],
  ['failed', 'Any failure'],
  ['error', 'Error'],
  ['denied', 'Denied'],
  ['timeout', 'Timed out'],
  ['aborted', 'Aborted'],
  ['interrupted', 'Interrupted'],
  ['waiting', 'Waiting for a person'],
  ['approval_required', 'Needs approval'],
] as const

/** Whether a call has the status of a filter; '' is any status, `failed` any kind of failure. */
export function hasStatus(call: CallEntry, wanted: string): boolean {
  if (wanted === 'failed') return isFailure(call.status) && call.status !== 'waiting'
  return wanted === '' || call.status === wanted
}

/** The tone of a call in a list: bad for a failure, warn if it was denied or needs an approval. */
export function toneOfCall({ status }: CallEntry): 'bad' | 'warn' | undefined {
  if (status === 'waiting' || isDenial(status)) return 'warn'
  return countsAsFailure(status) ? 'bad' : undefined
}

/** The address of a run, or of a call in it. */
export function runPath(run: string, call?: string): string {
  const path = `/runs/${encodeURIComponent(run)}`
  return call === undefined ? path : `${path}/${encodeURIComponent(call)}`
}
