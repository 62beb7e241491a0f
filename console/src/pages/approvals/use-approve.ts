import { useState } from 'react'
import { api } from '../../api/api.ts'
import { refreshQueries } from '../../api/query-cache.ts'
import type { Approval, ApprovalAnswer } from '../../api/types.ts'
import { showFailure } from '../../components/show-failure.ts'
import { showToast } from '../../components/show-toast.ts'
import { lastAnswer } from './last-answer.ts'
import { lostWords } from './lost-words.ts'

/** Sends an answer to an approval, once at a time. */
export interface Approve {
  readonly isBusy: boolean
  /** Says what became of it; a failure is told in a toast. */
  send(answer: ApprovalAnswer): Promise<void>
  /** The same, but a failure is thrown, for a form to show. */
  sendOrThrow(answer: ApprovalAnswer): Promise<void>
}

/** Answers an approval; the first answer wins, and who was later is told who was first. */
export function useApprove({ id, tool }: Approval, onDone: () => void): Approve {
  const [isBusy, setBusy] = useState(false)
  const sendOrThrow = async (answer: ApprovalAnswer) => {
    if (isBusy) return
    setBusy(true)
    try {
      const { won, approval } = await api.approvals.answer(id, answer)
      if (!won) return showToast(lostWords(tool, approval.answered))
      lastAnswer.set({ words: wordsFor(answer), isYes: answer.decision === 'allow', subject: tool, at: Date.now() })
      onDone()
    } finally {
      setBusy(false)
      refreshQueries('approvals')
    }
  }
  return {
    isBusy,
    sendOrThrow,
    send: (answer) => sendOrThrow(answer).catch((error) => showFailure('Not answered', error)),
  }
}

function wordsFor({ decision, input }: ApprovalAnswer): string {
  if (decision === 'deny') return 'Denied'
  return input === undefined ? 'Allowed' : 'Allowed with your changes:'
}
