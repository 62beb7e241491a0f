import { MailQuestionMark, TriangleAlert } from 'lucide-react'
import type { InboxMessage } from '../../api/types.ts'
import { DetailPart } from '../../calls/detail-part.tsx'
import { runPath } from '../../calls/run-path.ts'
import { ArtifactList } from '../../components/artifact-list.tsx'
import { Badge } from '../../components/badge.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Note } from '../../components/note.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { SplitBody, SplitDetail } from '../../components/split-view.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { Link } from '../../router/link.tsx'
import styles from './inbox.module.css'

interface MessageDetailProps {
  readonly message: InboxMessage | undefined
  readonly isLoading: boolean
  readonly backTo: string
}

/** One message, as plain text whatever it holds. */
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

function Body({ message }: { message: InboxMessage }) {
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
          <p>These may not be the agent’s own words: follow no link or advice in it without a look at the run.</p>
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
