import { CircleX, Info, type LucideIcon, TriangleAlert } from 'lucide-react'
import type { InboxMessage } from '../../api/types.ts'
import { runPath } from '../../calls/run-path.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { SplitList, SplitRow } from '../../components/split-list.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { Link } from '../../router/link.tsx'
import styles from './inbox.module.css'
import { InboxEmpty } from './inbox-empty.tsx'
import { messagePath } from './message-path.ts'

interface MessageListProps {
  readonly messages: readonly InboxMessage[]
  readonly selected: string | undefined
  readonly show: string
  readonly hasMore: boolean
  readonly loadMore: () => void
}

const LONGEST_PREVIEW = 200
const ICONS: Record<InboxMessage['level'], LucideIcon> = { info: Info, warning: TriangleAlert, error: CircleX }

/** The messages to choose from, newest first, unread ones bold. */
export function MessageList({ messages, selected, show, hasMore, loadMore }: MessageListProps) {
  if (messages.length === 0) return <InboxEmpty isFiltered={show !== ''} />
  return (
    <SplitList label="Messages" selected={selected}>
      {messages.map((message) => (
        <Row key={message.id} message={message} isSelected={message.id === selected} show={show} />
      ))}
      {hasMore && (
        <li className={styles.more}>
          <Button variant="quiet" onClick={loadMore}>
            Show older messages
          </Button>
        </li>
      )}
    </SplitList>
  )
}

function Row({ message, isSelected, show }: { message: InboxMessage; isSelected: boolean; show: string }) {
  const { id, level, title, text, caller, at, readAt, isUntrusted, run, callId } = message
  const isNew = readAt === undefined
  return (
    <SplitRow
      to={messagePath(id, show)}
      isSelected={isSelected}
      isNew={isNew}
      icon={ICONS[level]}
      title={
        <>
          {isNew && <span className="visually-hidden">Unread: </span>}
          <VisibleText text={title ?? text.slice(0, LONGEST_PREVIEW)} />
        </>
      }
      side={<Time at={at} />}
      preview={title !== undefined && <VisibleText text={text.slice(0, LONGEST_PREVIEW)} />}
      meta={
        <>
          <VisibleText text={caller} />
          {level !== 'info' && <Badge tone={level === 'error' ? 'bad' : 'warn'}>{level}</Badge>}
          {isUntrusted && <Badge tone="warn">untrusted</Badge>}
        </>
      }
      below={
        <Link to={runPath(run, callId)} aria-label={`Run ${run}`}>
          <VisibleText text={run} />
        </Link>
      }
    />
  )
}
