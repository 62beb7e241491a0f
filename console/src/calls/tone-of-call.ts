import type { CallEntry } from '../api/types.ts'
import { countsAsFailure, isDenial } from './is-failure.ts'

/** How a row of a call is marked: a failure is bad; what was denied, or needs an approval, is worth a look. */
export function toneOfCall({ status }: CallEntry): 'bad' | 'warn' | undefined {
  if (isDenial(status)) return 'warn'
  return countsAsFailure(status) ? 'bad' : undefined
}
