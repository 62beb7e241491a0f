import { Undo2 } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/api.ts'
import { refreshQueries } from '../../api/query-cache.ts'
import type { UndoAnswer } from '../../api/types.ts'
import { useQuery } from '../../api/use-query.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Note } from '../../components/note.tsx'
import { showFailure } from '../../components/show-failure.ts'
import { showToast } from '../../components/show-toast.ts'
import { useCalm } from '../../keyboard/use-calm.ts'
import { countUndo } from './count-undo.ts'
import { ForceField } from './force-field.tsx'
import { UndoList } from './undo-list.tsx'

interface UndoDialogProps {
  readonly run: string
  /** The call to undo; the whole run unless said. */
  readonly call: string | undefined
  readonly onClose: () => void
}

/** First what undoing would do, by a dry run; then a yes; then what it did. */
export function UndoDialog({ run, call, onClose }: UndoDialogProps) {
  const [force, setForce] = useState(false)
  const [openedAt] = useState(() => Date.now())
  const [isBusy, setBusy] = useState(false)
  const [done, setDone] = useState<UndoAnswer>()
  const rehearsal = useQuery(`undo ${run} ${call ?? ''} ${force} ${openedAt}`, () =>
    api.runs.undo(run, { call, force, dryRun: true }),
  )
  const calm = useCalm(JSON.stringify(rehearsal.data?.changes ?? []))
  const undo = async () => {
    setBusy(true)
    try {
      const report = await api.runs.undo(run, { call, force })
      const { taken, refused } = countUndo(report.changes)
      setDone(report)
      refreshQueries(`changes ${run}`)
      const title = taken === 1 ? '1 change was taken back' : `${taken} changes were taken back`
      showToast({
        tone: report.ok ? 'ok' : 'warn',
        title,
        description: refused > 0 ? `${refused} were not` : undefined,
      })
    } catch (error) {
      showFailure('Nothing was undone', error)
    }
    setBusy(false)
  }
  const { taken, refused } = countUndo(rehearsal.data?.changes ?? [])
  return (
    <Dialog
      isOpen
      isWide
      onClose={onClose}
      title={call === undefined ? 'Undo the whole run' : `Undo call ${call}`}
      description={
        done ? 'What was done:' : 'What would happen to the files, newest change first. Nothing is done yet.'
      }
      footer={
        done ? (
          <Button variant="primary" onClick={onClose}>
            Close
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>Cancel</Button>
            <Button
              variant="danger"
              icon={Undo2}
              isBusy={isBusy}
              calm={calm}
              disabled={taken === 0 || rehearsal.isLoading}
              onClick={undo}
            >
              {taken === 1 ? 'Undo 1 change' : `Undo ${taken} changes`}
            </Button>
          </>
        )
      }
    >
      {done && <UndoList changes={done.changes} isDone />}
      {!done && (
        <Loaded query={rehearsal}>
          {({ changes }) => (
            <>
              {taken === 0 && refused === 0 && (
                <Note title="There is nothing to take back">Everything was undone before, or cannot be.</Note>
              )}
              <UndoList changes={changes} isDone={false} />
            </>
          )}
        </Loaded>
      )}
      {!done && (refused > 0 || force) && <ForceField isForced={force} onChange={setForce} />}
    </Dialog>
  )
}
