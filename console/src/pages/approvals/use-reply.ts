import { useState } from 'react'
import { api } from '../../api/api.ts'
import { refreshQueries } from '../../api/query-cache.ts'
import type { Question } from '../../api/types.ts'
import { showFailure } from '../../components/show-failure.ts'
import { showToast } from '../../components/show-toast.ts'
import { lastAnswer } from './last-answer.ts'
import { lostWords } from './lost-words.ts'

/** Sends an answer to a question, once at a time. */
export interface Reply {
  readonly isBusy: boolean
  send(answer: { answer?: string; values?: Record<string, unknown> }): Promise<void>
}

/** Answers a question; the first answer wins, and who was later is told who was first. */
export function useReply({ id, tool }: Question, onDone: () => void): Reply {
  const [isBusy, setBusy] = useState(false)
  return {
    isBusy,
    async send(answer) {
      if (isBusy) return
      setBusy(true)
      try {
        const { won, question } = await api.questions.answer(id, answer)
        if (!won) return showToast(lostWords(tool, question.answered))
        lastAnswer.set({ words: 'Answered', isYes: true, subject: tool, at: Date.now() })
        onDone()
      } catch (error) {
        showFailure('Not answered', error)
      } finally {
        setBusy(false)
        refreshQueries('questions')
      }
    },
  }
}
