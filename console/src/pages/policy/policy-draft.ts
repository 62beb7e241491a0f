import { session } from '../../api/session.ts'
import type { PolicyState, PolicyTestReport } from '../../api/types.ts'
import { createValue } from '../../state/create-value.ts'

/** Rules that somebody has begun to change. */
export interface PolicyDraft {
  readonly yaml: string
  /** What it started from. */
  readonly base: Pick<PolicyState, 'yaml' | 'version' | 'file'>
  /** The last test, and of which text it was. */
  readonly tested?: { readonly yaml: string; readonly report: PolicyTestReport }
}

/** The draft of this page; it outlives a look at other pages, such as at a call that would change. */
export const policyDraft = createValue<PolicyDraft | undefined>(undefined)

/** Takes another text; one that is as before is no draft any more. */
export function editDraft(draft: PolicyDraft, yaml: string): void {
  policyDraft.set(yaml === draft.base.yaml ? undefined : { ...draft, yaml })
}

/** Puts the same text on what is there now; it has to be tested again. */
export function rebaseDraft({ yaml }: PolicyDraft, base: PolicyDraft['base']): void {
  policyDraft.set(yaml === base.yaml ? undefined : { yaml, base })
}

// Whoever signs in next starts anew; after a session that only ran out, the work is still there.
session.watch(() => {
  const current = session.get()
  if (current.state === 'signed-out' && !current.lost) policyDraft.set(undefined)
})
