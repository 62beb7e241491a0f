import { api } from '../../api/api.ts'
import { refreshQueries } from '../../api/query-cache.ts'
import type { InboxMessage } from '../../api/types.ts'
import { usePages } from '../../api/use-pages.ts'
import { showFailure } from '../../components/show-failure.ts'

const PAGE = 100

/** The messages, or only unread ones; what is read here stays in sight until the list is left. */
export function useInbox(isUnread: boolean) {
  const { setItems, ...pages } = usePages(
    `inbox list ${isUnread}`,
    async (before?: string) => {
      const { messages, ...page } = await api.inbox.list({ unread: isUnread, limit: PAGE, before })
      return { items: messages, ...page }
    },
    {
      what: 'messages',
      compare: newestFirst,
      keepsGone: isUnread,
      refreshOn: ['ability-changed'],
      ability: 'messages',
    },
  )
  /** Those with these ids, or all. */
  const markRead = async (ids?: readonly string[]) => {
    try {
      await api.inbox.read(ids)
      const at = Date.now()
      const isMeant = ({ id }: InboxMessage) => ids === undefined || ids.includes(id)
      setItems((known) => known.map((message) => (isMeant(message) ? { readAt: at, ...message } : message)))
      refreshQueries('inbox')
    } catch (error) {
      showFailure('Not marked as read', error)
    }
  }
  return { ...pages, markRead }
}

function newestFirst(a: InboxMessage, b: InboxMessage): number {
  return b.at - a.at || (a.id < b.id ? 1 : -1)
}
