import { api } from '../api/api.ts'
import { useQuery } from '../api/use-query.ts'

/** How many approvals and questions wait for somebody. Pages that list them share these answers by their keys. */
export function useWaiting(): number {
  const approvals = useQuery('approvals waiting', () => api.approvals.list(), { refreshOn: ['approval'] })
  const questions = useQuery('questions waiting', () => api.questions.list(), { refreshOn: ['question'] })
  return (approvals.data?.length ?? 0) + (questions.data?.length ?? 0)
}
