import type { Approval } from '../../api/types.ts'
import type { ToastOptions } from '../../components/show-toast.ts'

/** Says that an answer came too late: who was first, and what they said. */
export function lostWords(tool: string, answered: Approval['answered']): ToastOptions {
  if (!answered) return { tone: 'warn', title: 'Too late', description: `${tool} does not wait any more.` }
  const theirs = { allow: 'allowed', deny: 'denied' }[answered.decision ?? ''] ?? 'answered'
  return {
    tone: 'warn',
    title: `${answered.by} was first`,
    description: `${tool} was ${theirs} via ${answered.via}; your answer does not count.`,
  }
}
