import { useState } from 'react'
import { JsonView } from '../../components/json-view.tsx'
import { SplitBody } from '../../components/split-view.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { AnswerBar } from './answer-bar.tsx'
import type { Ask } from './ask.ts'
import styles from './ask-detail.module.css'
import { AskHeading } from './ask-heading.tsx'
import { AskHistory } from './ask-history.tsx'
import { AskNotices } from './ask-notices.tsx'
import { AskViews } from './ask-views.tsx'
import { DetailBlock } from './detail-block.tsx'
import { EditDialog } from './edit-dialog.tsx'
import { TextList } from './text-list.tsx'
import { useApprove } from './use-approve.ts'
import { useIsOver } from './use-is-over.ts'

interface ApprovalDetailProps {
  readonly approval: Extract<Ask, { kind: 'approval' }>
  readonly onDone: () => void
}

/** A call that waits for a yes: what it would do, why it asks, and the answer. */
export function ApprovalDetail({ approval, onDone }: ApprovalDetailProps) {
  const [isEditing, setEditing] = useState(false)
  const isOver = useIsOver(approval)
  const approve = useApprove(approval, onDone)
  const { purpose, reason, rule, targets, requests, views, input, history, run } = approval
  return (
    <>
      <SplitBody label="The call">
        <AskHeading ask={approval} isOver={isOver} />
        <AskNotices ask={approval} isOver={isOver} />
        {purpose !== undefined && (
          <DetailBlock title="Why, as the caller says">
            <p className={styles.quote}>
              <VisibleText text={purpose} />
            </p>
          </DetailBlock>
        )}
        <AskViews views={views} />
        <DetailBlock title="Why it asks">
          <p>
            <VisibleText text={reason} />
          </p>
          {!reason.includes(rule) && (
            <code className={styles.quiet}>
              <VisibleText text={rule} />
            </code>
          )}
        </DetailBlock>
        <TextList title="Targets" texts={targets} isCode />
        <TextList title="Skills ask for it (which permits nothing)" texts={requests} />
        <DetailBlock title="Arguments">
          <JsonView value={input} label="arguments" />
        </DetailBlock>
        <AskHistory history={history} run={run} />
      </SplitBody>
      {!isOver && approval.mayAnswer && (
        <AnswerBar approval={approval} approve={approve} onEdit={() => setEditing(true)} />
      )}
      {isEditing && !isOver && <EditDialog approval={approval} approve={approve} onClose={() => setEditing(false)} />}
    </>
  )
}
