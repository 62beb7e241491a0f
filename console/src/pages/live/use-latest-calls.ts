import { api } from '../../api/api.ts'
import type { CallEntry } from '../../api/types.ts'
import { type QueryResult, useQuery } from '../../api/use-query.ts'

/** The newest calls whatever the filter, once: what the strip and the choices of the filters begin with. */
export function useLatestCalls(): QueryResult<{ calls: CallEntry[]; next?: number }> {
  return useQuery('calls latest', () => api.calls.list({ limit: 500 }))
}
