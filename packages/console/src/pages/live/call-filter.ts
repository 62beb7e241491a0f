import type { CallEntry } from '../../api/types.ts'
import { hasStatus } from '../../calls/call.ts'

/** The filter of the list; '' matches everything. */
export interface CallFilter {
  readonly tool: string
  readonly caller: string
  readonly status: string
  readonly text: string
}

/** Whether a call from an event matches the filter, as the service decides it. */
export function fitsFilter(call: CallEntry, { tool, caller, status, text }: CallFilter): boolean {
  if (tool !== '' && call.tool !== tool) return false
  if (caller !== '' && call.caller !== caller) return false
  if (!hasStatus(call, status)) return false
  return text === '' || searchedText(call).includes(text.toLowerCase())
}

/** The filter as the query of `GET /v1/calls`. */
export function toQuery({ tool, caller, status, text }: CallFilter) {
  return {
    tool: tool || undefined,
    caller: caller || undefined,
    status: status || undefined,
    text: text || undefined,
  }
}

function searchedText({ tool, caller, summary = '', targets = [], request = '' }: CallEntry): string {
  return [tool, caller, summary, ...targets, request].join('\n').toLowerCase()
}
