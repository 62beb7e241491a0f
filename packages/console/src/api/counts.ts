import { api, useMe } from './session.ts'
import { useResource } from './use-resource.ts'

/** How many approvals and questions are pending. Pages that list them share these requests by their keys. */
export function useWaiting(): number {
  const approvals = useResource(['approvals', 'waiting'], () => api.approvals.list(), { refreshOn: ['approval'] })
  const questions = useResource(['questions', 'waiting'], () => api.questions.list(), { refreshOn: ['question'] })
  return (approvals.data?.length ?? 0) + (questions.data?.length ?? 0)
}

/** How many messages in the inbox are unread; 0 without the scope `read`. */
export function useUnread(): number {
  const mayRead = useMe().may('read')
  const { data } = useResource(
    ['inbox', 'unread'],
    async () => (mayRead ? (await api.inbox.list({ unread: true, limit: 1 })).unread : 0),
    { feature: 'messages' },
  )
  return data ?? 0
}
