import type { Approval } from '../../api/types.ts'

/** What became of an ask. */
export type Outcome = 'allowed' | 'denied' | 'answered' | 'waiting' | 'expired' | 'withdrawn'

/** What became of an approval; `answered` where the answer itself is not told. */
export function outcomeOf({ state, answered }: Pick<Approval, 'state' | 'answered'>): Outcome {
  if (state !== 'answered') return state
  if (answered?.decision === 'allow') return 'allowed'
  return answered?.decision === 'deny' ? 'denied' : 'answered'
}
