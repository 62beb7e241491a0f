import type { CallEntry } from '../../api/types.ts'
import { Duration } from '../../components/duration.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { Link } from '../../router/link.tsx'
import styles from './call-details.module.css'
import { DetailBlock } from './detail-block.tsx'

/** The calls that this one made. */
export function CallChildren({ calls }: { calls: readonly CallEntry[] }) {
  if (calls.length === 0) return null
  return (
    <DetailBlock title={`Calls it made (${calls.length})`}>
      <ul className={styles.list}>
        {calls.map(({ callId, tool, status, durationMs }) => (
          <li key={callId} className={styles.line}>
            <StatusBadge status={status} />
            <Link to={`/live/${encodeURIComponent(callId)}`}>
              <VisibleText text={tool} />
            </Link>
            <span className={styles.quiet}>
              <Duration ms={durationMs} />
            </span>
          </li>
        ))}
      </ul>
    </DetailBlock>
  )
}
