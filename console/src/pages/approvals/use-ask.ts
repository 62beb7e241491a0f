import { api } from '../../api/api.ts'
import { useEvents } from '../../api/use-events.ts'
import { type QueryResult, useQuery } from '../../api/use-query.ts'
import type { Ask } from './ask.ts'

/**
 * One ask as it is now; `known` is what the list has of it, to show at once unless it is only a part: nobody is to say yes
 * to what is not shown. It stays after it has left the list.
 */
export function useAsk(id: string, known: Ask | undefined): QueryResult<Ask> {
  const isQuestion = id.startsWith('question-')
  const query = useQuery<Ask>(isQuestion ? `questions one ${id}` : `approvals one ${id}`, async () =>
    isQuestion
      ? { kind: 'question', ...(await api.questions.get(id)) }
      : { kind: 'approval', ...(await api.approvals.get(id)) },
  )
  useEvents(
    (event) => {
      if (event.type === 'approval' && event.approval.id === id) query.refresh()
      if (event.type === 'question' && event.question.id === id) query.refresh()
    },
    ['approval', 'question'],
  )
  return { ...query, data: query.data ?? (known?.isCut ? undefined : known) }
}
