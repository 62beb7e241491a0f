import type { PolicyState } from '../../api/types.ts'
import { Button } from '../../components/button.tsx'
import { Note } from '../../components/note.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { useCalm } from '../../keyboard/use-calm.ts'
import styles from './policy.module.css'
import { type PolicyDraft, policyDraft, rebaseDraft } from './policy-draft.ts'

interface EditorNotesProps {
  readonly state: PolicyState
  readonly draft: PolicyDraft
  readonly mayChange: boolean
}

/** Why it cannot be saved, and that somebody else saved meanwhile. */
export function EditorNotes({ state, draft, mayChange }: EditorNotesProps) {
  const calm = useCalm(`${draft.base.version} ${state.version}`)
  return (
    <>
      {state.readOnly !== undefined && (
        <Note tone="warn" title="These rules cannot be saved here">
          <p>
            <VisibleText text={state.readOnly} />
          </p>
          <p>You can still change the text and test it on past calls.</p>
        </Note>
      )}
      {!mayChange && (
        <Note tone="warn" title="You may look and test, but not save">
          <p>
            Saving needs the scope <code>admin</code>. Sign in with the token that <code>tool-hub serve</code> printed,
            or make one: <code>tool-hub tokens add NAME --scopes read,admin</code>
          </p>
        </Note>
      )}
      {draft.base.version !== state.version && (
        <Note tone="warn" title="Somebody else has changed the rules since you began" isLive>
          <p>Your text is still here. To save it, put it on what is there now and test it again.</p>
          <div className={styles.row}>
            <Button size="small" calm={calm} onClick={() => rebaseDraft(draft, state)}>
              Reload, keep my text
            </Button>
            <Button size="small" variant="quiet" calm={calm} onClick={() => policyDraft.set(undefined)}>
              Reload, discard my text
            </Button>
          </div>
        </Note>
      )}
    </>
  )
}
