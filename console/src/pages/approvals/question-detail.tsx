import { useMemo } from 'react'
import { SplitBar, SplitBody } from '../../components/split-view.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { useCalm } from '../../keyboard/use-calm.ts'
import { type Ask, subjectOf } from './ask.ts'
import styles from './ask-detail.module.css'
import { AskHeading } from './ask-heading.tsx'
import { AskNotices } from './ask-notices.tsx'
import { DefaultAnswer } from './default-answer.tsx'
import { DetailBlock } from './detail-block.tsx'
import { QuestionForm } from './question-form.tsx'
import { QuestionReply } from './question-reply.tsx'
import { useIsOver } from './use-is-over.ts'
import { useReply } from './use-reply.ts'

interface QuestionDetailProps {
  readonly question: Extract<Ask, { kind: 'question' }>
  readonly onDone: () => void
}

/** What a tool asks the person behind the agent, and the ways to answer it. */
export function QuestionDetail({ question, onDone }: QuestionDetailProps) {
  const isOver = useIsOver(question)
  const reply = useReply(question, onDone)
  const calm = useCalm(useMemo(() => subjectOf(question), [question]))
  return (
    <>
      <SplitBody label="The question">
        <AskHeading ask={question} isOver={isOver} />
        <AskNotices ask={question} isOver={isOver} />
        <p className={styles.question}>
          <VisibleText text={question.question} />
        </p>
        {question.context !== undefined && (
          <DetailBlock title="What to know">
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
