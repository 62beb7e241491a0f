import type { Approval } from '../../api/types.ts'
import { lostWords } from './lost-words.ts'

/** What became of one of several denials. */
export interface Denial {
  readonly id: string
  readonly tool: string
  readonly outcome: 'denied' | 'late' | 'failed'
  /** Who was first, or why it failed. */
  readonly words?: string
}

type Denied = Pick<Approval, 'id' | 'tool'>
type Send = (id: string) => Promise<{ readonly won: boolean; readonly approval: Pick<Approval, 'answered'> }>

/** Denies one after the other, each once; one that fails keeps none of the others from being denied. */
export async function denyEach(approvals: readonly Denied[], send: Send): Promise<Denial[]> {
  const denials: Denial[] = []
  for (const { id, tool } of new Map(approvals.map((each) => [each.id, each])).values()) {
    try {
      const { won, approval } = await send(id)
      const words = won ? undefined : lostWords(tool, approval.answered).title
      denials.push({ id, tool, outcome: won ? 'denied' : 'late', ...(words !== undefined && { words }) })
    } catch (error) {
      denials.push({ id, tool, outcome: 'failed', words: error instanceof Error ? error.message : String(error) })
    }
  }
  return denials
}
