import type { RunEntry } from '../../api/types.ts'
import { runPath } from '../../calls/run-path.ts'
import { Badge } from '../../components/badge.tsx'
import { Duration } from '../../components/duration.tsx'
import type { Column } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { Link } from '../../router/link.tsx'
import styles from './runs-page.module.css'

/** The columns of the list of runs. */
export const RUN_COLUMNS: readonly Column<RunEntry>[] = [
  {
    id: 'run',
    title: 'Run',
    width: 'minmax(200px, 2fr)',
    narrow: 'title',
    wraps: true,
    cell: ({ run, label, goal }) => (
      <span className={styles.lines}>
        <Link to={runPath(run)} className={styles.run}>
          <VisibleText text={run} />
        </Link>
        {(label ?? goal) !== undefined && (
          <span className={styles.goal}>
            <VisibleText text={[label, goal].filter((words) => words !== undefined).join(': ')} />
          </span>
        )}
      </span>
    ),
  },
  {
    id: 'caller',
    title: 'Caller',
    width: 'minmax(120px, 1fr)',
    narrow: 'plain',
    wraps: true,
    cell: ({ caller, principal }) => (
      <span className={styles.lines}>
        <span>{caller === '' ? 'the service itself' : <VisibleText text={caller} />}</span>
        {principal !== undefined && principal !== caller && (
          <span className={styles.goal}>
            for <VisibleText text={principal} />
          </span>
        )}
      </span>
    ),
  },
  {
    id: 'failures',
    title: 'Failures',
    width: '120px',
    narrow: 'side',
    cell: ({ failures }) =>
      failures > 0 ? (
        <Badge tone="bad">{failures.toLocaleString('en')} failed</Badge>
      ) : (
        <Badge tone="ok">none failed</Badge>
      ),
  },
  {
    id: 'calls',
    title: 'Calls',
    width: '80px',
    align: 'end',
    narrow: 'meta',
    cell: ({ calls }) => (
      <span>
        {calls.toLocaleString('en')} <span className={styles.unit}>{calls === 1 ? 'call' : 'calls'}</span>
      </span>
    ),
  },
  {
    id: 'took',
    title: 'Took',
    width: '112px',
    align: 'end',
    narrow: 'meta',
    cell: ({ startedAt, endedAt }) => <Duration ms={endedAt - startedAt} />,
  },
  {
    id: 'started',
    title: 'Started',
    width: '160px',
    align: 'end',
    narrow: 'meta',
    cell: ({ startedAt }) => <Time at={startedAt} />,
  },
]
