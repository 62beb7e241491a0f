import { useMemo } from 'react'
import { api } from '../../api/api.ts'
import { type QueryResult, useQuery } from '../../api/use-query.ts'
import { type Ask, toAsks } from './ask.ts'

/** Which asks: those that wait, or those that waited once. */
export type AskTab = 'waiting' | 'past'

/** The asks of a tab, in the order of `toAsks`. What waits is the same answer that the navigation counts. */
export function useAsks(tab: AskTab): QueryResult<Ask[]> {
  const isPast = tab === 'past'
  const approvals = useQuery(
    isPast ? 'approvals all' : 'approvals waiting',
    () => (isPast ? api.approvals.list({ state: 'all', limit: 500 }) : api.approvals.list()),
    { refreshOn: ['approval'] },
  )
  const questions = useQuery(
    isPast ? 'questions all' : 'questions waiting',
    () => (isPast ? api.questions.list({ state: 'all', limit: 500 }) : api.questions.list()),
    { refreshOn: ['question'] },
  )
  const data = useMemo(() => {
    if (!approvals.data || !questions.data) return undefined
    const asks = toAsks(approvals.data, questions.data, isPast)
    return isPast ? asks.filter(({ state }) => state !== 'waiting') : asks
  }, [approvals.data, questions.data, isPast])
  return {
    data,
    error: approvals.error ?? questions.error,
    isLoading: approvals.isLoading || questions.isLoading,
    refresh() {
      approvals.refresh()
      questions.refresh()
    },
  }
}
