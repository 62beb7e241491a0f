import { FormInput } from 'lucide-react'
import { api } from '../../api/api.ts'
import type { CanvasDetail, Question } from '../../api/types.ts'
import { useQuery } from '../../api/use-query.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Note } from '../../components/note.tsx'
import { SplitBody } from '../../components/split-view.tsx'
import { useCalm } from '../../keyboard/use-calm.ts'
import { subjectOf } from '../approvals/ask.ts'
import { QuestionForm } from '../approvals/question-form.tsx'
import { useReply } from '../approvals/use-reply.ts'

/** A form that a call waits for. It is the question of that call, which can be answered elsewhere too. */
export function CanvasForm({ canvas }: { canvas: CanvasDetail }) {
  const query = useQuery('questions waiting', () => api.questions.list(), { refreshOn: ['question'] })
  return (
    <SplitBody label="The form">
      <Loaded query={query}>
        {(questions) => {
          const question = questions.find(({ callId }) => callId === canvas.latest.callId)
          if (question) return <Answer key={question.id} question={question} />
          return (
            <EmptyState icon={FormInput} title="Nobody waits for this form any more">
              It was answered, its time is over, or its call was stopped.
            </EmptyState>
          )
        }}
      </Loaded>
    </SplitBody>
  )
}

function Answer({ question }: { question: Question }) {
  const reply = useReply(question, () => {})
  const calm = useCalm(subjectOf(question))
  if (!question.mayAnswer)
    return <Note title="It is not yours to answer: it is one of your own calls, or needs the scope approve." />
  return <QuestionForm schema={question.form ?? {}} reply={reply} calm={calm} />
}
