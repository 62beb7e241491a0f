import { Undo2 } from 'lucide-react'
import { useMemo } from 'react'
import type { FileChange } from '../../api/types.ts'
import { runPath } from '../../calls/run-path.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { DiffView } from '../../components/diff-view.tsx'
import { Section } from '../../components/section.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { Link } from '../../router/link.tsx'
import styles from './changes.module.css'
import type { ChangeGroup } from './group-changes.ts'
import { reverseDiff } from './reverse-diff.ts'

interface CallChangesProps {
  readonly run: string
  readonly group: ChangeGroup
  readonly canUndo: boolean
  readonly onUndo: () => void
}

/** The files that one call changed. */
export function CallChanges({ run, group: { callId, tool, changes }, canUndo, onUndo }: CallChangesProps) {
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
  ['remove', 'made this file'],
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
        {made === undefined && WORDS.has(action) && <span>There is no text to compare.</span>}
      </div>
      {made !== undefined && <DiffView path={path} diff={made} isNew={action === 'remove'} />}
    </div>
  )
}
