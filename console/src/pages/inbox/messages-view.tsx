import { MailCheck } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { useMe } from '../../api/use-me.ts'
import { Button } from '../../components/button.tsx'
import { FilterBar } from '../../components/filter-bar.tsx'
import { FilterSelect } from '../../components/filter-select.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { SplitView } from '../../components/split-view.tsx'
import { useChosen } from '../../components/use-chosen.ts'
import { useShortcut } from '../../keyboard/use-shortcut.ts'
import { useSearchParam } from '../../router/router.ts'
import { useUnread } from '../../shell/use-unread.ts'
import styles from './inbox.module.css'
import { MessageDetail } from './message-detail.tsx'
import { MessageList } from './message-list.tsx'
import { messagePath } from './message-path.ts'
import { useInbox } from './use-inbox.ts'

/** The messages with the opened one beside them. */
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
  useChosen({ list: messages, id, pathOf, opensFirst: false })

  // Once for each that is opened; one that is edited while it is open is unread again, and was seen.
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
      <SplitView
        side={
          <Loaded query={query}>
            {() => <MessageList {...inbox} messages={messages} selected={id} show={show} />}
          </Loaded>
        }
        detail={
          id !== undefined && (
            <MessageDetail key={id} message={opened} isLoading={query.data === undefined} backTo={pathOf(undefined)} />
          )
        }
      />
    </div>
  )
}
