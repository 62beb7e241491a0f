import { api } from '../../api/session.ts'
import type { Approval, ApprovalAnswer, Question } from '../../api/types.ts'
import { type Action, useAction } from '../../api/use-resource.ts'
import type { Done } from '../../components/split-view.tsx'
import { showToast } from '../../components/toast.tsx'
import { createValue } from '../../lib/watched-value.ts'
import { lostWords } from './answers.ts'

/** The answer to a question: a text, or the values of its form. */
export interface QuestionAnswer {
  readonly answer?: string
  readonly values?: Record<string, unknown>
}

interface Outcome extends Pick<Done, 'words' | 'isYes'> {
  /** The first answer counts: whether this one was the first. */
  readonly won: boolean
  /** The answer that counts. */
  readonly answered: Approval['answered']
}

/** What was answered last on this page. */
export const lastAnswer = createValue<Done | undefined>(undefined)

/** Answers an approval. */
export function useApprovalAnswer({ id, tool }: Approval, onDone: () => void): Action<ApprovalAnswer> {
  return useAnswer(tool, onDone, async (answer) => {
    const { won, approval } = await api.approvals.answer(id, answer)
    return { won, answered: approval.answered, words: wordsFor(answer), isYes: answer.decision === 'allow' }
  })
}

/** Answers a question. */
export function useQuestionAnswer({ id, tool }: Question, onDone: () => void): Action<QuestionAnswer> {
  return useAnswer(tool, onDone, async (answer) => {
    const { won, question } = await api.questions.answer(id, answer)
    return { won, answered: question.answered, words: 'Answered', isYes: true }
  })
}

/** Sends an answer. If somebody else was first, a toast says who. */
function useAnswer<Answer>(
  tool: string,
  onDone: () => void,
  send: (answer: Answer) => Promise<Outcome>,
): Action<Answer> {
  return useAction(
    async (answer: Answer) => {
      const { won, answered, words, isYes } = await send(answer)
      if (!won) return showToast(lostWords(tool, answered))
      lastAnswer.set({ words, isYes, subject: tool, at: Date.now() })
      onDone()
    },
    { failure: 'Not answered', refreshes: ['approvals', 'questions'] },
  )
}

function wordsFor({ decision, input }: ApprovalAnswer): string {
  if (decision === 'deny') return 'Denied'
  return input === undefined ? 'Allowed' : 'Allowed with your changes:'
}
