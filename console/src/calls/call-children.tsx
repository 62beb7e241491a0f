import type { CallEntry } from '../api/types.ts'
import { Duration } from '../components/duration.tsx'
import { StatusBadge } from '../components/status-badge.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { Link } from '../router/link.tsx'
import styles from './call-children.module.css'
import type { CallPlace } from './call-details.tsx'

/** The calls that a call made. */
export function CallChildren({ calls, pathTo }: { calls: readonly CallEntry[]; pathTo: CallPlace['pathTo'] }) {
  return (
    <ul className={styles.list}>
      {calls.map(({ callId, tool, status, durationMs }) => (
        <li key={callId} className={styles.call}>
          <StatusBadge status={status} />
          <Link to={pathTo(callId)}>
            <VisibleText text={tool} />
          </Link>
          <Duration ms={durationMs} />
        </li>
      ))}
    </ul>
  )
}
