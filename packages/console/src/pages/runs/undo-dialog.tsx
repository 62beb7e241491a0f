import { Ban, CircleCheck, CircleSlash, Undo2 } from 'lucide-react'
import { useState } from 'react'
import { refreshResources } from '../../api/query-client.ts'
import { api } from '../../api/session.ts'
import type { FileChange, UndoAnswer } from '../../api/types.ts'
import { useResource } from '../../api/use-resource.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { DiffView } from '../../components/diff-view.tsx'
import { Field } from '../../components/field.tsx'
import { Note } from '../../components/note.tsx'
import { Loaded } from '../../components/resource.tsx'
import { VisibleText } from '../../components/text.tsx'
import { showFailure, showToast } from '../../components/toast.tsx'
import { useCalm } from '../../lib/calm.ts'
import styles from './runs.module.css'

interface UndoDialogProps {
  readonly run: string
  /** The call to undo. Default: the whole run. */
  readonly call: string | undefined
  readonly onClose: () => void
}

/** Shows what undoing would do, by a dry run; after a confirmation, what it did. */
export function UndoDialog({ run, call, onClose }: UndoDialogProps) {
  const [force, setForce] = useState(false)
  const [openedAt] = useState(() => Date.now())
  const [isBusy, setBusy] = useState(false)
  const [done, setDone] = useState<UndoAnswer>()
  const rehearsal = useResource(['undo', run, call, force, openedAt], () =>
    api.runs.undo(run, { call, force, dryRun: true }),
  )
  const calm = useCalm(JSON.stringify(rehearsal.data?.changes ?? []))
  const undo = async () => {
    setBusy(true)
    try {
      const report = await api.runs.undo(run, { call, force })
      const { taken, refused } = countUndo(report.changes)
      setDone(report)
      refreshResources('changes', run)
      const title = taken === 1 ? '1 change was undone' : `${taken} changes were undone`
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
                <Note title="There is nothing to undo">Everything was already undone, or cannot be undone.</Note>
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

const WILL = new Map([
  ['restored', 'would be restored'],
  ['removed', 'would be removed'],
  ['moved back', 'would be moved back'],
])

/** What undoing does, or did, to each file. */
function UndoList({ changes, isDone }: { changes: readonly FileChange[]; isDone: boolean }) {
  return (
    <ul className={styles.list} aria-label={isDone ? 'What was done' : 'What would happen'}>
      {changes.map((change, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a file may change twice, and the order never changes.
        <li key={index} className={styles.item}>
          <div className={styles.line}>
            <Outcome action={change.action} isDone={isDone} />
            <code className={styles.path}>
              <VisibleText text={change.path} />
            </code>
          </div>
          {change.reason !== undefined && (
            <p className={styles.reason}>
              <VisibleText text={change.reason} />
            </p>
          )}
          {change.diff !== undefined && <DiffView path={change.path} diff={change.diff} />}
        </li>
      ))}
    </ul>
  )
}

function Outcome({ action, isDone }: { action: string; isDone: boolean }) {
  if (WILL.has(action))
    return (
      <Badge tone={isDone ? 'ok' : 'info'} icon={CircleCheck}>
        {isDone ? action : WILL.get(action)}
      </Badge>
    )
  if (action === 'already') return <Badge icon={CircleSlash}>already undone</Badge>
  return (
    <Badge tone="warn" icon={Ban}>
      {action === 'refused' ? (isDone ? 'refused' : 'would be refused') : 'cannot be undone'}
    </Badge>
  )
}

/** Whether to undo changes of files that were changed again afterwards. */
function ForceField({ isForced, onChange }: { isForced: boolean; onChange: (isForced: boolean) => void }) {
  return (
    <Field
      label="Also undo files that were changed since"
      description="Later changes of these files will be lost: check the differences above first."
    >
      {({ required: _, ...control }) => (
        <input {...control} type="checkbox" checked={isForced} onChange={({ target }) => onChange(target.checked)} />
      )}
    </Field>
  )
}

const TAKEN = new Set(['restored', 'removed', 'moved back'])

/** How many changes are undone, and how many are refused. */
function countUndo(changes: readonly FileChange[]): { taken: number; refused: number } {
  return {
    taken: changes.filter(({ action }) => TAKEN.has(action)).length,
    refused: changes.filter(({ action }) => action === 'refused').length,
  }
}
