import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/api.ts'
import { refreshQueries } from '../../api/query-cache.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { showToast } from '../../components/show-toast.ts'
import { VisibleText } from '../../components/visible-text.tsx'
import { navigate } from '../../router/router.ts'

/** Removes a run that has ended, after a question. */
export function RemoveRun({ run }: { run: string }) {
  const [isAsking, setAsking] = useState(false)
  const remove = async () => {
    await api.runs.remove(run)
    navigate('/runs')
    refreshQueries('runs')
    showToast({ tone: 'ok', title: `Run ${run} was removed` })
  }
  return (
    <>
      <Button icon={Trash2} onClick={() => setAsking(true)}>
        Remove
      </Button>
      <ConfirmDialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title="Remove this run?"
        action="Remove"
        failure="Not removed"
        onConfirm={remove}
      >
        <p>
          The folder of{' '}
          <strong>
            <VisibleText text={run} />
          </strong>{' '}
          is deleted: its record, its artifacts, its workspace, and what undo needs. Export the record first if you want
          to keep a copy.
        </p>
        <p>
          The removal is recorded with your name and the last hash of the run, so a copy can be proven to be the one
          that was removed.
        </p>
      </ConfirmDialog>
    </>
  )
}
