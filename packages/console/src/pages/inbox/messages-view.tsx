import { MailCheck } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { useUnread } from '../../api/counts.ts'
import { api, useMe } from '../../api/session.ts'
import type { InboxMessageEntry } from '../../api/types.ts'
import { usePages } from '../../api/use-pages.ts'
import { useAction } from '../../api/use-resource.ts'
import { Button } from '../../components/button.tsx'
import { FilterBar, FilterSelect } from '../../components/filters.tsx'
import { ResourceSplit } from '../../components/resource.tsx'
import { useSelection } from '../../components/split-view.tsx'
import { useShortcut } from '../../lib/shortcuts.ts'
import { useSearchParam } from '../../router/router.ts'
import styles from './inbox.module.css'
import { MessageDetail, MessageList, messagePath } from './messages.tsx'

/** The messages, with the opened one next to them. */
export function MessagesView({ id }: { id: string | undefined }) {
  const [show, setShow] = useSearchParam('show')
  return <Messages key={show} id={id} show={show} setShow={setShow} />
}

interface MessagesProps {
  readonly id: string | undefined
  readonly show: string
  readonly setShow: (show: string) => void
}

function Messages({ id, show, setShow }: MessagesProps) {
  const { may } = useMe()
  const mayMark = may('approve') || may('admin')
  const inbox = useInbox(show === 'unread')
  const { query, items: messages, markRead } = inbox
  const opened = messages.find((message) => message.id === id)
  const unread = useUnread()
  const pathOf = (each: string | undefined) => messagePath(each, show)
  useSelection({ list: messages, id, pathOf, opensFirst: false })

  // Marks each opened message as read, again if it is edited while it is open.
  const isUnread = opened !== undefined && opened.readAt === undefined
  const mark = useRef(markRead)
  useEffect(() => {
    mark.current = markRead
  })
  useEffect(() => {
    if (isUnread && mayMark && id !== undefined) void mark.current([id])
  }, [isUnread, mayMark, id])
  useShortcut('u', 'Only unread, or all', () => setShow(show === 'unread' ? '' : 'unread'))
  useShortcut('r', 'Mark all as read', () => void markRead(), { when: mayMark && unread > 0 })

  return (
    <div className={styles.view}>
      <FilterBar summary={query.data && `${unread.toLocaleString('en')} unread`}>
        <FilterSelect
          label="Which messages"
          value={show}
          options={[
            ['', 'All messages'],
            ['unread', 'Unread'],
          ]}
          onChange={setShow}
        />
        {mayMark && (
          <Button icon={MailCheck} shortcut="r" disabled={unread === 0} onClick={() => void markRead()}>
            Mark all as read
          </Button>
        )}
      </FilterBar>
      <ResourceSplit
        query={query}
        list={() => <MessageList {...inbox} messages={messages} selected={id} show={show} />}
        detail={
          id !== undefined && (
            <MessageDetail key={id} message={opened} isLoading={query.data === undefined} backTo={pathOf(undefined)} />
          )
        }
      />
    </div>
  )
}

const PAGE = 100

/** All messages, or only unread ones. Messages that are read here stay visible until the list is left. */
function useInbox(isUnread: boolean) {
  const { setItems, ...pages } = usePages(
    ['inbox', 'list', isUnread],
    async (before?: string) => {
      const { messages, ...page } = await api.inbox.list({ unread: isUnread, limit: PAGE, before })
      return { items: messages, ...page }
    },
    {
      what: 'messages',
      compare: newestFirst,
      keepsGone: isUnread,
      feature: 'messages',
    },
  )
  const read = useAction(
    async (ids?: readonly string[]) => {
      await api.inbox.read(ids)
      const at = Date.now()
      const isMarked = ({ id }: InboxMessageEntry) => ids === undefined || ids.includes(id)
      setItems((known) => known.map((message) => (isMarked(message) ? { readAt: at, ...message } : message)))
    },
    { failure: 'Not marked as read', refreshes: ['inbox'] },
  )
  return { ...pages, markRead: (ids?: readonly string[]) => read.run(ids) }
}

function newestFirst(a: InboxMessageEntry, b: InboxMessageEntry): number {
  return b.at - a.at || (a.id < b.id ? 1 : -1)
}
