import { now } from '../../components/now.ts'
import { useValue } from '../../state/create-value.ts'
import type { Ask } from './ask.ts'

/** Whether there is nothing to answer any more, also when the server has not said yet that the time is over. */
export function useIsOver({ state, expiresAt }: Ask): boolean {
  return useValue(now) >= Date.parse(expiresAt) || state !== 'waiting'
}
