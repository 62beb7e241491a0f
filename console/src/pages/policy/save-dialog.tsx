import { useState } from 'react'
import { ApiError } from '../../../../src/client/index.ts'
import { api } from '../../api/api.ts'
import { refreshQueries, setQuery } from '../../api/query-cache.ts'
import { readHint } from '../../api/read-hint.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { DiffView } from '../../components/diff-view.tsx'
import { Note } from '../../components/note.tsx'
import { showToast } from '../../components/show-toast.ts'
import { VisibleText } from '../../components/visible-text.tsx'
import { useCalm } from '../../keyboard/use-calm.ts'
import { countChanges } from './count-changes.ts'
import { diffText } from './diff-text.ts'
import { type PolicyDraft, policyDraft, rebaseDraft } from './policy-draft.ts'

interface SaveDialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly draft: PolicyDraft
}

/** The last look before rules hold: what changes in the file, and in decisions. */
export function SaveDialog({ isOpen, onClose, draft }: SaveDialogProps) {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<Error>()
  const { yaml, base, tested } = draft
  const isConflict = error instanceof ApiError && error.code === 'CONFLICT'
  const calm = useCalm(`${isOpen} ${isConflict} ${base.version} ${yaml}`)
  const close = () => {
    setError(undefined)
    onClose()
  }
  const attempt = async (work: () => Promise<void>) => {
    setBusy(true)
    setError(undefined)
    try {
      await work()
      onClose()
    } catch (failure) {
      setError(failure as Error)
    } finally {
      setBusy(false)
    }
  }
  const save = () =>
    attempt(async () => {
      const state = await api.policy.save({ yaml, version: base.version })
      setQuery('policy', state)
      policyDraft.set(undefined)
      showToast({ title: 'Saved', description: 'The rules hold from now on, for every call that comes.' })
    })
  const reload = () =>
    attempt(async () => {
      rebaseDraft(draft, await api.policy.get())
      refreshQueries('policy')
    })
  return (
    <Dialog
      isOpen={isOpen}
      onClose={close}
      isWide
      title="Save the rules?"
      description="They hold at once, for every agent."
      footer={
        <>
          <Button onClick={close}>Cancel</Button>
          {isConflict && (
            <Button variant="primary" isBusy={isBusy} calm={calm} onClick={reload}>
              Reload, keep my text
            </Button>
          )}
          {!isConflict && (
            <Button variant="primary" isBusy={isBusy} calm={calm} onClick={save}>
              Save the rules
            </Button>
          )}
        </>
      }
    >
      {isConflict && (
        <Note tone="bad" title="Somebody else saved meanwhile; nothing was saved now" isLive>
          <p>Reload what is there, and test your text on it again. Your text stays in the editor.</p>
        </Note>
      )}
      {error && !isConflict && (
        <Note tone="bad" title={<VisibleText text={error.message} />} isLive>
          <p>
            <VisibleText text={readHint(error) ?? 'Try again.'} />
          </p>
        </Note>
      )}
      {tested && (
        <p>
          {tested.report.changed.length === 0
            ? `No decision of ${tested.report.checked.toLocaleString('en')} past calls would change.`
            : `Of ${tested.report.checked.toLocaleString('en')} past calls, these would be decided otherwise: ${countChanges(tested.report.changed)}.`}
        </p>
      )}
      <DiffView path={base.file ?? 'rules'} diff={diffText(base.yaml, yaml)} />
    </Dialog>
  )
}
