import { ArrowRight } from 'lucide-react'
import { useMemo } from 'react'
import type { CallDetail } from '../../api/types.ts'
import { Duration } from '../../components/duration.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { Time } from '../../components/time.tsx'
import { Link } from '../../router/link.tsx'
import { CallChildren } from './call-children.tsx'
import { CallDecision } from './call-decision.tsx'
import styles from './call-details.module.css'
import { CallEvents } from './call-events.tsx'
import { CallFacts } from './call-facts.tsx'
import { CallInput } from './call-input.tsx'
import { CallOutput } from './call-output.tsx'
import { readCall } from './read-call.ts'

/** Everything that is on record of a call. */
export function CallDetails({ detail: { call, lines, children } }: { detail: CallDetail }) {
  const story = useMemo(() => readCall(lines), [lines])
  const { run, callId, status, startedAt, durationMs } = call
  return (
    <>
      <div className={styles.head}>
        <StatusBadge status={status} />
        <span>
          <Time at={startedAt} />
        </span>
        {durationMs !== undefined && (
          <span>
            took <Duration ms={durationMs} />
          </span>
        )}
        <Link to={`/runs/${encodeURIComponent(run)}/${encodeURIComponent(callId)}`} className={styles.run}>
          Open in its run <ArrowRight size={13} aria-hidden="true" />
        </Link>
      </div>
      <CallFacts call={call} story={story} />
      <CallInput story={story} />
      <CallDecision call={call} story={story} />
      <CallOutput call={call} story={story} />
      <CallEvents events={story.events} />
      <CallChildren calls={children} />
      {lines.length === 0 && (
        <p className={styles.quiet}>The record of its run is gone; this is what the index still knows.</p>
      )}
    </>
  )
}
