import { Mail } from 'lucide-react'
import type { AgentHistory } from '../../api/types.ts'
import { runPath } from '../../calls/run-path.ts'
import { Badge } from '../../components/badge.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { Link } from '../../router/link.tsx'
import styles from './agents.module.css'

/** A call of a session, or a message to it or by it. */
export function HistoryEntry({ entry, session }: { entry: AgentHistory['entries'][number]; session: string }) {
  if (entry.type === 'call') {
    return (
      <li className={styles.entry}>
        <StatusBadge status={entry.status} />
        <Link to={runPath(session, entry.callId)}>
          <VisibleText text={entry.tool} />
        </Link>
        {entry.isUntrusted && <Badge tone="warn">untrusted</Badge>}
        <span className={styles.when}>
          <Time at={entry.at} />
        </span>
        <span className={styles.summary}>
          <VisibleText text={entry.summary} />
        </span>
      </li>
    )
  }
  const { from, to, text, isUntrusted } = entry.message
  return (
    <li className={styles.entry}>
      <Badge tone="info" icon={Mail}>
        message
      </Badge>
      <span>
        {to === session ? 'from ' : 'to '}
        <VisibleText text={to === session ? from : to} />
      </span>
      {isUntrusted && <Badge tone="warn">untrusted</Badge>}
      <span className={styles.when}>
        <Time at={entry.at} />
      </span>
      <span className={styles.text}>
        <VisibleText text={text} />
      </span>
    </li>
  )
}
