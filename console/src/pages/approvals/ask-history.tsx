import type { Approval } from '../../api/types.ts'
import { runPath } from '../../calls/run-path.ts'
import { StatusBadge } from '../../components/status-badge.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { Link } from '../../router/link.tsx'
import styles from './ask-detail.module.css'
import { DetailBlock } from './detail-block.tsx'

/** The run so far, newest first: what led here. */
export function AskHistory({ history, run }: Pick<Approval, 'history' | 'run'>) {
  return (
    <DetailBlock title="The run so far">
      {history.length === 0 && <p className={styles.quiet}>This is the first call of its run.</p>}
      <ol className={styles.list} aria-label="Calls before this one">
        {history.map(({ callId, tool, status, summary }) => (
          <li key={callId} className={styles.call}>
            <StatusBadge status={status} />
            <Link to={runPath(run, callId)}>
              <VisibleText text={tool} />
            </Link>
            {summary !== undefined && (
              <span className={styles.summary}>
                <VisibleText text={summary} />
              </span>
            )}
          </li>
        ))}
      </ol>
    </DetailBlock>
  )
}
