import { api } from '../api/api.ts'
import { useMe } from '../api/use-me.ts'
import { useQuery } from '../api/use-query.ts'

/** How many messages of the inbox nobody has opened; none for those who may not look. */
export function useUnread(): number {
  const mayRead = useMe().may('read')
  const { data } = useQuery(
    'inbox unread',
    async () => (mayRead ? (await api.inbox.list({ unread: true, limit: 1 })).unread : 0),
    { refreshOn: ['ability-changed'], ability: 'messages' },
  )
  return data ?? 0
}
