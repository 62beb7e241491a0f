import type { IndexedCall } from '../../store.ts'
import { foldText } from './search-text.ts'

/** Targets can be many and long; this much of them is searched. */
const LONGEST = 4_000

/** The text of a call that a search looks in: tool, caller, purpose, summary, targets and request. */
export function searchedText(call: IndexedCall): string {
  const { tool, caller, purpose = '', summary = '', targets = [], request } = call
  const asked = request === undefined ? [] : [request]
  return foldText([tool, caller, purpose, summary, ...targets, ...asked].join('\n').slice(0, LONGEST))
}
