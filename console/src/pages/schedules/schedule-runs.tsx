import { api } from '../../api/api.ts'
import type { ScheduleRunEntry } from '../../api/types.ts'
import { usePages } from '../../api/use-pages.ts'
import { runPath } from '../../calls/run-path.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Duration } from '../../components/duration.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { Link } from '../../router/link.tsx'
import styles from './schedules.module.css'

const PAGE = 20

/** What became of the times of a schedule, newest first. */
export function ScheduleRuns({ id }: { id: string }) {
  const { query, items, hasMore, loadMore } = usePages(
    `schedules runs ${id}`,
    async (before?: number) => {
      const { runs, next } = await api.schedules.runs(id, { before, limit: PAGE })
      return { items: runs, next }
    },
    {
      what: 'runs',
      compare: (a: ScheduleRunEntry, b: ScheduleRunEntry) => b.seq - a.seq,
      refreshOn: ['ability-changed'],
      ability: 'schedules',
    },
  )
  return (
    <Loaded query={query}>
      {() => (
        <>
          {items.length === 0 && <p className={styles.muted}>It has not run yet.</p>}
          <ol className={styles.runs} aria-label="Runs of the schedule">
            {items.map((run) => (
              <Run key={run.id} run={run} />
            ))}
          </ol>
          {hasMore && (
            <Button variant="quiet" size="small" onClick={loadMore}>
              Show older runs
            </Button>
          )}
        </>
      )}
    </Loaded>
  )
}

function Run({
  run: { status, dueAt, startedAt, endedAt, runId, missed, summary, error, untrusted },
}: {
  run: ScheduleRunEntry
}) {
  const words = error ?? summary
  return (
    <li className={styles.run}>
      <StatusBadge status={status} />
      <Time at={startedAt ?? dueAt} />
      {startedAt !== undefined && endedAt !== undefined && (
        <span className={styles.muted}>
          took <Duration ms={endedAt - startedAt} />
        </span>
      )}
      {untrusted && <Badge tone="warn">untrusted</Badge>}
      {missed > 0 && <span className={styles.muted}>stands for {missed.toLocaleString('en')} more</span>}
      {runId !== undefined && (
        <Link to={runPath(runId)} className={styles.end}>
          Open its run
        </Link>
      )}
      {words !== undefined && (
        <span className={styles.words}>
          <VisibleText text={words} />
        </span>
      )}
    </li>
  )
}
