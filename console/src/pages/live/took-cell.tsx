import type { CallEntry } from '../../api/types.ts'
import { Duration } from '../../components/duration.tsx'
import { formatDuration } from '../../components/format-duration.ts'
import { now } from '../../components/now.ts'
import { useValue } from '../../state/create-value.ts'
import styles from './took-cell.module.css'

const LONGEST_MS = 60_000

/** How long a call took, with a bar to compare them by (each third is about a factor of 40); a running one counts on. */
export function TookCell({ call }: { call: CallEntry }) {
  if (call.durationMs === undefined && call.status === 'running') return <RunningFor since={call.startedAt} />
  return (
    <span className={styles.took}>
      <Duration ms={call.durationMs} />
      {call.durationMs !== undefined && (
        <svg viewBox="0 0 64 3" preserveAspectRatio="none" aria-hidden="true" className={styles.bar}>
          <rect width="64" height="3" className={styles.back} />
          <rect width={barLength(call.durationMs) * 64} height="3" className={styles.length} />
        </svg>
      )}
    </span>
  )
}

function RunningFor({ since }: { since: number }) {
  const current = useValue(now)
  const seconds = Math.floor((current - since) / 1_000)
  return <span className={styles.running}>{seconds < 1 ? '…' : formatDuration(seconds * 1_000)}</span>
}

// By its logarithm: 2 ms and 200 ms are as different to a reader as 200 ms and 20 s.
function barLength(ms: number): number {
  return Math.min(1, Math.log1p(Math.max(0, ms)) / Math.log1p(LONGEST_MS))
}
