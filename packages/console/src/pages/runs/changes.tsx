import { FilePen, Undo2 } from 'lucide-react'
import { useMemo, useState } from 'react'
import { Link } from 'wouter'
import { useEvents } from '../../api/events.ts'
import { api, useMe } from '../../api/session.ts'
import type { FileChange } from '../../api/types.ts'
import { useResource } from '../../api/use-resource.ts'
import { runPath } from '../../calls/call.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { DiffView } from '../../components/diff-view.tsx'
import { Section } from '../../components/page.tsx'
import { Loaded } from '../../components/resource.tsx'
import { EmptyState } from '../../components/states.tsx'
import { VisibleText } from '../../components/text.tsx'
import { reverseDiff } from '../../lib/diff.ts'
import { useShortcut } from '../../lib/shortcuts.ts'
import styles from './runs.module.css'
import { UndoDialog } from './undo-dialog.tsx'

/** The files that a run changed, and the buttons to undo the changes. */
export function Changes({ run }: { run: string }) {
  const query = useResource(['changes', run], () => api.runs.changes(run))
  // The call to undo; '' for the whole run; `undefined` if the dialog is closed.
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
              The calls of this run changed no files. Changes that commands and servers make outside of the sandbox are
              not tracked.
            </EmptyState>
          ) : (
            <>
              <div className={styles.bar}>
                <p className={styles.words}>
                  {changes.length.toLocaleString('en')} {changes.length === 1 ? 'change' : 'changes'}, newest first.
                  {!isAdmin && (
                    <span id="undo-needs-admin"> Undoing requires the scope admin, which you do not have.</span>
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

interface CallChangesProps {
  readonly run: string
  readonly group: ChangeGroup
  readonly canUndo: boolean
  readonly onUndo: () => void
}

/** The files that one call changed. */
function CallChanges({ run, group: { callId, tool, changes }, canUndo, onUndo }: CallChangesProps) {
  return (
    <Section
      title={tool}
      actions={
        <div className={styles.line}>
          <Link to={runPath(run, callId)}>{callId}</Link>
          <Button
            size="small"
            icon={Undo2}
            disabled={!canUndo}
            aria-label={`Undo this call… (${callId})`}
            onClick={onUndo}
          >
            Undo this call…
          </Button>
        </div>
      }
    >
      {changes.map((change, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a call may change a file twice, and the order never changes.
        <Change key={index} change={change} />
      ))}
    </Section>
  )
}

const WORDS = new Map([
  ['remove', 'created this file'],
  ['restore', 'changed or removed this file'],
  ['move back', 'moved it'],
])

function Change({ change: { path, action, reason, diff } }: { change: FileChange }) {
  const made = useMemo(() => (diff === undefined ? undefined : reverseDiff(diff)), [diff])
  return (
    <div className={styles.file}>
      <div className={styles.line}>
        {made === undefined && (
          <code className={styles.path}>
            <VisibleText text={path} />
          </code>
        )}
        {action === 'already' && <Badge tone="ok">undone</Badge>}
        {action === 'not undoable' && <Badge tone="warn">cannot be undone</Badge>}
        {WORDS.has(action) && (
          <span>
            The call {WORDS.get(action)}; undoing would {action === 'move back' ? 'move it back' : `${action} it`}.
          </span>
        )}
        {reason !== undefined && <VisibleText text={reason} />}
        {made === undefined && WORDS.has(action) && <span>No text to compare.</span>}
      </div>
      {made !== undefined && <DiffView path={path} diff={made} isNew={action === 'remove'} />}
    </div>
  )
}

/** The changes of one call, in the order of the response. */
interface ChangeGroup {
  readonly key: string
  readonly callId: string
  readonly tool: string
  readonly changes: readonly FileChange[]
}

/** Groups consecutive changes by their call. */
function groupChanges(changes: readonly FileChange[]): ChangeGroup[] {
  const groups: { key: string; callId: string; tool: string; changes: FileChange[] }[] = []
  for (const change of changes) {
    const last = groups.at(-1)
    if (last?.callId === change.callId) last.changes.push(change)
    else
      groups.push({
        key: `${change.callId} ${groups.length}`,
        callId: change.callId,
        tool: change.tool,
        changes: [change],
      })
  }
  return groups
}
