import type { DecisionRedactor } from '../../record/decision-redactor.ts'
import type { AskView } from '../../result.ts'
import type { Call } from '../call.ts'
import type { Parts, RunState } from '../parts.ts'
import { commandViews } from './command-views.ts'
import { diffViews } from './diff-views.ts'
import { urlViews } from './url-views.ts'

/**
 * What a person who is asked sees of a call beside its arguments: commands as policy reads them, what would change in
 * files, where requests would go. Without secrets, within seconds, and never a reason for the call to fail.
 */
export async function viewsOf(
  parts: Parts,
  run: RunState,
  call: Call,
  redactor: DecisionRedactor,
): Promise<readonly AskView[]> {
  const [diffs, urls] = await Promise.all([diffViews(parts, run, call, redactor), urlViews(parts, run, call, redactor)])
  return [...commandViews(parts, run, call, redactor), ...diffs, ...urls]
}
