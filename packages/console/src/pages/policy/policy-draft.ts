import { session } from '../../api/session.ts'
import type { PolicyState, PolicyTestReport } from '../../api/types.ts'
import { createValue } from '../../lib/watched-value.ts'

/** Edited rules that are not saved yet. */
export interface PolicyDraft {
  readonly yaml: string
  /** The saved rules that the draft started from. */
  readonly base: Pick<PolicyState, 'yaml' | 'version' | 'file'>
  /** The last test, and the text that was tested. */
  readonly tested?: { readonly yaml: string; readonly report: PolicyTestReport }
}

/** The draft of this page. It is kept while other pages are shown. */
export const policyDraft = createValue<PolicyDraft | undefined>(undefined)

/** Changes the text of the draft; a draft that equals the saved rules is dropped. */
export function editDraft(draft: PolicyDraft, yaml: string): void {
  policyDraft.set(yaml === draft.base.yaml ? undefined : { ...draft, yaml })
}

/** Moves the text onto the currently saved rules; it has to be tested again. */
export function rebaseDraft({ yaml }: PolicyDraft, base: PolicyDraft['base']): void {
  policyDraft.set(yaml === base.yaml ? undefined : { yaml, base })
}

// The next user starts without the draft; after a session that expired, it is still there.
session.watch(() => {
  const current = session.get()
  if (current.state === 'signed-out' && !current.lost) policyDraft.set(undefined)
})
