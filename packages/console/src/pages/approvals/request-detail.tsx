import { useMemo, useState } from 'react'
import type { Question } from '../../api/types.ts'
import { Loaded } from '../../components/resource.tsx'
import { SplitBar, SplitBody, SplitDetail } from '../../components/split-view.tsx'
import { VisibleText } from '../../components/text.tsx'
import { Time } from '../../components/time.tsx'
import { useCalm } from '../../lib/calm.ts'
import { AnswerBar } from './answer-bar.tsx'
import styles from './approvals.module.css'
import { EditDialog } from './edit-dialog.tsx'
import { type HumanRequest, isOfScript, subjectOf } from './human-request.ts'
import { QuestionForm, QuestionReply } from './question-reply.tsx'
import { RequestNotices } from './request-notices.tsx'
import { DetailBlock, RequestHeading, RunHistory } from './request-parts.tsx'
import { ApprovalFacts } from './request-views.tsx'
import { ScriptBlock } from './script-source.tsx'
import { useApprovalAnswer, useQuestionAnswer } from './use-answer.ts'
import { useIsOver, useRequest } from './use-requests.ts'

interface AskDetailProps {
  readonly id: string
  readonly known: HumanRequest | undefined
  readonly backTo: string
  /** Called after it was answered here, to select the next one. */
  readonly onDone: () => void
}

/** A request with everything that helps to decide, and the answers. */
export function RequestDetail({ id, known, backTo, onDone }: AskDetailProps) {
  const query = useRequest(id, known)
  return (
    <SplitDetail label="Request" backTo={backTo} backWords="All approvals">
      <Loaded query={query}>
        {(request) =>
          request.kind === 'approval' ? (
            <ApprovalDetail approval={request} onDone={onDone} />
          ) : (
            <QuestionDetail question={request} onDone={onDone} />
          )
        }
      </Loaded>
    </SplitDetail>
  )
}

interface ApprovalDetailProps {
  readonly approval: Extract<HumanRequest, { kind: 'approval' }>
  readonly onDone: () => void
}

/** A call that needs an approval: what it would do, why it needs one, and the answers. */
function ApprovalDetail({ approval, onDone }: ApprovalDetailProps) {
  const [isEditing, setEditing] = useState(false)
  const isOver = useIsOver(approval)
  const approve = useApprovalAnswer(approval, onDone)
  return (
    <>
      <SplitBody label="The call">
        <RequestHeading request={approval} isOver={isOver} />
        {isOfScript(approval) && <ScriptBlock calls={[approval]} />}
        <ApprovalFacts approval={approval} isOver={isOver} />
        <RunHistory history={approval.history} run={approval.run} />
      </SplitBody>
      {!isOver && approval.mayAnswer && (
        <AnswerBar approval={approval} approve={approve} onEdit={() => setEditing(true)} />
      )}
      {isEditing && !isOver && <EditDialog approval={approval} onDone={onDone} onClose={() => setEditing(false)} />}
    </>
  )
}

interface QuestionDetailProps {
  readonly question: Extract<HumanRequest, { kind: 'question' }>
  readonly onDone: () => void
}

/** A question from a tool, and the answers. */
function QuestionDetail({ question, onDone }: QuestionDetailProps) {
  const isOver = useIsOver(question)
  const reply = useQuestionAnswer(question, onDone)
  const calm = useCalm(useMemo(() => subjectOf(question), [question]))
  return (
    <>
      <SplitBody label="The question">
        <RequestHeading request={question} isOver={isOver} />
        <RequestNotices request={question} isOver={isOver} />
        <p className={styles.question}>
          <VisibleText text={question.question} />
        </p>
        {question.context !== undefined && (
          <DetailBlock title="Context">
            <p className={styles.quote}>
              <VisibleText text={question.context} />
            </p>
          </DetailBlock>
        )}
        {!isOver && <DefaultAnswer question={question} />}
      </SplitBody>
      {!isOver && question.mayAnswer && (
        <SplitBar label="Answer">
          {question.form ? (
            <QuestionForm schema={question.form} reply={reply} calm={calm} />
          ) : (
            <QuestionReply options={question.options ?? []} reply={reply} calm={calm} />
          )}
        </SplitBar>
      )}
    </>
  )
}

/** What happens if nobody answers. */
function DefaultAnswer({ question: { defaultAnswer, expiresAt } }: { question: Question }) {
  if (defaultAnswer === undefined) {
    return (
      <p className={styles.quiet}>
        If nobody answers, the call ends without an answer <Time at={expiresAt} />.
      </p>
    )
  }
  return (
    <p className={styles.quiet}>
      If nobody answers, “<VisibleText text={defaultAnswer} />” is used <Time at={expiresAt} />.
    </p>
  )
}
