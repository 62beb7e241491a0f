import type { IndexedCall } from '../../store.ts'
import { foldText } from './search-text.ts'

/** Targets can be many and long; this much of them is searched. */
const LONGEST = 4_000

/** The text of a call that a search looks in: tool, caller, purpose, summary and targets. */
export function searchedText({ tool, caller, purpose = '', summary = '', targets = [] }: IndexedCall): string {
  return foldText([tool, caller, purpose, summary, ...targets].join('\n').slice(0, LONGEST))
}
