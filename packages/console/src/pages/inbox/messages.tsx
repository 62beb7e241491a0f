import { CircleX, Inbox, Info, type LucideIcon, MailCheck, MailQuestionMark, TriangleAlert } from 'lucide-react'
import { Link } from 'wouter'
import type { InboxMessageEntry } from '../../api/types.ts'
import { runPath } from '../../calls/call.ts'
import { ArtifactList } from '../../components/artifact-list.tsx'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { DetailPart } from '../../components/details.tsx'
import { Note } from '../../components/note.tsx'
import { SplitBody, SplitDetail, SplitList, SplitRow } from '../../components/split-view.tsx'
import { EmptyState, Skeleton } from '../../components/states.tsx'
import { VisibleText } from '../../components/text.tsx'
import { Time } from '../../components/time.tsx'
import styles from './inbox.module.css'

interface MessageListProps {
  readonly messages: readonly InboxMessageEntry[]
  readonly selected: string | undefined
  readonly show: string
  readonly hasMore: boolean
  readonly loadMore: () => void
}

const MAX_PREVIEW = 200
const ICONS: Record<InboxMessageEntry['level'], LucideIcon> = { info: Info, warning: TriangleAlert, error: CircleX }

/** The list of messages, newest first, unread ones in bold. */
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

function Row({ message, isSelected, show }: { message: InboxMessageEntry; isSelected: boolean; show: string }) {
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
          <VisibleText text={title ?? text.slice(0, MAX_PREVIEW)} />
        </>
      }
      side={<Time at={at} />}
      preview={title !== undefined && <VisibleText text={text.slice(0, MAX_PREVIEW)} />}
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

/** Shown if there are no messages, or no unread ones. */
function InboxEmpty({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <EmptyState icon={MailCheck} title="There are no unread messages">
        New messages appear here as they arrive. <Link to="/inbox">Show all messages</Link>
      </EmptyState>
    )
  }
  return (
    <EmptyState icon={Inbox} title="No messages yet">
      Messages that agents send to the channel <code>console</code> with the tool <code>core/message.send</code> appear
      here. Other channels are configured under <code>messages.channels</code> in tool-hub.yaml; see
      docs/reference/messages.md.
    </EmptyState>
  )
}

interface MessageDetailProps {
  readonly message: InboxMessageEntry | undefined
  readonly isLoading: boolean
  readonly backTo: string
}

/** A message, always as plain text. */
export function MessageDetail({ message, isLoading, backTo }: MessageDetailProps) {
  return (
    <SplitDetail label="Message" backTo={backTo} backWords="All messages">
      {message && <Body message={message} />}
      {!message && isLoading && <Skeleton />}
      {!message && !isLoading && (
        <EmptyState icon={MailQuestionMark} title="This message is not in the list">
          It was removed, or is older than what is shown: go to the end of the list and show older messages.
        </EmptyState>
      )}
    </SplitDetail>
  )
}

function Body({ message }: { message: InboxMessageEntry }) {
  const { level, title, text, caller, principal, at, editedAt, run, callId, isUntrusted, attachments } = message
  return (
    <SplitBody label="The message">
      <header>
        <div className={styles.heading}>
          {title !== undefined && (
            <h2>
              <VisibleText text={title} />
            </h2>
          )}
          {level !== 'info' && <Badge tone={level === 'error' ? 'bad' : 'warn'}>{level}</Badge>}
        </div>
        <p className={styles.who}>
          <VisibleText text={principal ?? caller} />, <Time at={at} />
          {editedAt !== undefined && (
            <>
              , edited <Time at={editedAt} />
            </>
          )}
          , in{' '}
          <Link to={runPath(run, callId)}>
            <VisibleText text={run} />
          </Link>
        </p>
      </header>
      {isUntrusted && (
        <Note icon={TriangleAlert} tone="warn" title="Its run has read content from outside.">
          <p>These may not be the agent’s own words: check the run before you follow any link or advice in it.</p>
        </Note>
      )}
      <p className={styles.text}>
        <VisibleText text={text} />
      </p>
      {attachments.length > 0 && (
        <DetailPart title={`Attachments (${attachments.length})`}>
          <ArtifactList run={run} artifacts={attachments} />
        </DetailPart>
      )}
    </SplitBody>
  )
}

/** The address of a message; keeps the filter. */
export function messagePath(id: string | undefined, show: string): string {
  const path = id === undefined ? '/inbox' : `/inbox/${encodeURIComponent(id)}`
  return show === '' ? path : `${path}?show=${show}`
}
