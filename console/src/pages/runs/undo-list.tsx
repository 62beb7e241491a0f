import { Ban, CircleCheck, CircleSlash } from 'lucide-react'
import type { FileChange } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { DiffView } from '../../components/diff-view.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import styles from './undo-list.module.css'

const WILL = new Map([
  ['restored', 'would be restored'],
  ['removed', 'would be removed'],
  ['moved back', 'would be moved back'],
])

/** What an undo does to each file, or did. */
export function UndoList({ changes, isDone }: { changes: readonly FileChange[]; isDone: boolean }) {
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
  if (action === 'already') return <Badge icon={CircleSlash}>undone before</Badge>
  return (
    <Badge tone="warn" icon={Ban}>
      {action === 'refused' ? (isDone ? 'refused' : 'would be refused') : 'cannot be undone'}
    </Badge>
  )
}
