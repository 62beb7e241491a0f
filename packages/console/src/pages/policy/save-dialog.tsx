import { ApiError } from '@tool-hub/client'
import { useState } from 'react'
import { queryClient, refreshResources } from '../../api/query-client.ts'
import { api } from '../../api/session.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { DiffView } from '../../components/diff-view.tsx'
import { ErrorNote, Note } from '../../components/note.tsx'
import { showToast } from '../../components/toast.tsx'
import { useCalm } from '../../lib/calm.ts'
import { diffText } from '../../lib/diff.ts'
import { type PolicyDraft, policyDraft, rebaseDraft } from './policy-draft.ts'
import { countChanges } from './text-edits.ts'

interface SaveDialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly draft: PolicyDraft
}

/** Confirms the changes of the rules: the diff of the file, and the changed decisions. */
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
      queryClient.setQueryData(['policy'], state)
      policyDraft.set(undefined)
      showToast({ title: 'Saved', description: 'The rules are in effect for all new calls.' })
    })
  const reload = () =>
    attempt(async () => {
      rebaseDraft(draft, await api.policy.get())
      refreshResources('policy')
    })
  return (
    <Dialog
      isOpen={isOpen}
      onClose={close}
      isWide
      title="Save the rules?"
      description="They take effect immediately, for every agent."
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
        <Note tone="bad" title="Somebody else saved in the meantime; your change was not saved" isLive>
          <p>Reload the current rules, and test your text again. Your text stays in the editor.</p>
        </Note>
      )}
      {error && !isConflict && <ErrorNote error={error} />}
      {tested && (
        <p>
          {tested.report.changed.length === 0
            ? `No decision of ${tested.report.checked.toLocaleString('en')} past calls would change.`
            : `Of ${tested.report.checked.toLocaleString('en')} past calls, these decisions would change: ${countChanges(tested.report.changed)}.`}
        </p>
      )}
      <DiffView path={base.file ?? 'rules'} diff={diffText(base.yaml, yaml)} />
    </Dialog>
  )
}
