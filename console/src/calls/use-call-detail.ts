import { api } from '../api/api.ts'
import type { CallDetail } from '../api/types.ts'
import { useEvents } from '../api/use-events.ts'
import { type QueryResult, useQuery } from '../api/use-query.ts'
import { useSettled } from '../state/use-settled.ts'

/** What is on record of a call, asked again when it goes on; keys that are held down go over many. */
export function useCallDetail(callId: string): QueryResult<CallDetail> {
  const settled = useSettled(callId)
  const query = useQuery(`call ${settled}`, () => api.calls.get(settled))
  // Only for its own events: the service reads the record of the run for every answer.
  useEvents((event) => event.type === 'call' && event.call.callId === settled && query.refresh(), ['call'])
  if (settled === callId) return query
  // Never one call's details under the name of another.
  return { ...query, data: undefined, error: undefined }
}
