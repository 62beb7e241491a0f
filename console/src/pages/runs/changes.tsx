import { FilePen, Undo2 } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/api.ts'
import { useEvents } from '../../api/use-events.ts'
import { useMe } from '../../api/use-me.ts'
import { useQuery } from '../../api/use-query.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { useShortcut } from '../../keyboard/use-shortcut.ts'
import { CallChanges } from './call-changes.tsx'
import styles from './changes.module.css'
import { groupChanges } from './group-changes.ts'
import { UndoDialog } from './undo-dialog.tsx'

/** The files that the calls of a run changed, and how to take it back. */
export function Changes({ run }: { run: string }) {
  const query = useQuery(`changes ${run}`, () => api.runs.changes(run))
  // `undefined`: no dialog, `''`: the whole run, else a call.
  const [undoing, setUndoing] = useState<string>()
  const isAdmin = useMe().may('admin')
  useEvents(
    (event) => event.type === 'call' && event.call.run === run && event.call.status !== 'running' && query.refresh(),
    ['call'],
  )
  const canUndo = isAdmin && (query.data ?? []).some(({ action }) => isUndoable(action))
  useShortcut('u', 'Undo the whole run', () => setUndoing(''), { when: canUndo })
  return (
    <div className={styles.changes}>
      <Loaded query={query}>
        {(changes) =>
          changes.length === 0 ? (
            <EmptyState icon={FilePen} title="No file was changed">
              The calls of this run have changed no file. What commands and servers change outside of the sandbox’s
              tools is not known here.
            </EmptyState>
          ) : (
            <>
              <div className={styles.bar}>
                <p className={styles.words}>
                  {changes.length.toLocaleString('en')} {changes.length === 1 ? 'change' : 'changes'}, newest first.
                  {!isAdmin && (
                    <span id="undo-needs-admin">
                      {' '}
                      Undoing needs a sign-in with the scope admin; yours does not have it.
                    </span>
                  )}
                </p>
                <Button
                  icon={Undo2}
                  shortcut="u"
                  disabled={!canUndo}
                  aria-describedby={isAdmin ? undefined : 'undo-needs-admin'}
                  onClick={() => setUndoing('')}
                >
                  Undo the whole run…
                </Button>
              </div>
              {groupChanges(changes).map((group) => (
                <CallChanges
                  key={group.key}
                  group={group}
                  run={run}
                  canUndo={isAdmin && group.changes.some(({ action }) => isUndoable(action))}
                  onUndo={() => setUndoing(group.callId)}
                />
              ))}
            </>
          )
        }
      </Loaded>
      {undoing !== undefined && (
        <UndoDialog run={run} call={undoing || undefined} onClose={() => setUndoing(undefined)} />
      )}
    </div>
  )
}

function isUndoable(action: string): boolean {
  return action !== 'already' && action !== 'not undoable'
}
