import type { ScheduleEntry } from '../../api/types.ts'
import { runPath } from '../../calls/run-path.ts'
import { Badge } from '../../components/badge.tsx'
import { Facts } from '../../components/facts.tsx'
import { formatDuration } from '../../components/format-duration.ts'
import { Note } from '../../components/note.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { Link } from '../../router/link.tsx'
import { NextTime } from './next-time.tsx'
import { MISSED_WORDS, OVERLAP_WORDS } from './policy-words.ts'
import styles from './schedules.module.css'
import { WhenWords } from './when-words.tsx'

/** When it runs, whose rights it has, and how it takes what goes wrong. */
export function ScheduleFacts({ schedule }: { schedule: ScheduleEntry }) {
  const { enabled, disabledBecause, nextAt, timeZone, runs, maxRuns, until, jitterMs, timeoutMs } = schedule
  return (
    <>
      <div className={styles.row}>
        {enabled ? <Badge tone="ok">on</Badge> : <Badge>off</Badge>}
        {schedule.isFromConfig && <Badge tone="info">set in the config</Badge>}
        {schedule.createdBy.tainted && <Badge tone="warn">untrusted</Badge>}
      </div>
      {disabledBecause !== undefined && <Note tone="warn" title={<VisibleText text={disabledBecause} />} />}
      <Facts
        facts={[
          ['When', <WhenWords key="when" {...schedule} />],
          ['Next', enabled && nextAt !== undefined && <NextTime key="next" at={nextAt} timeZone={timeZone} />],
          [
            'Fired',
            `${runs.toLocaleString('en')} ${runs === 1 ? 'time' : 'times'}${maxRuns === undefined ? '' : ` of ${maxRuns}`}`,
          ],
          ['Until', until && <Time key="until" at={until} />],
          ['Missed', MISSED_WORDS[schedule.missed]],
          ['Overlap', OVERLAP_WORDS[schedule.overlap]],
          ['Put off', jitterMs > 0 && `by up to ${formatDuration(jitterMs)}`],
          ['Longest', `${formatDuration(timeoutMs)} a run`],
          ['On failure', schedule.continueOnError ? 'goes on with the next call' : 'leaves out the calls after it'],
          ['Rights of', <VisibleText key="rights" text={schedule.principal ?? 'owner'} />],
          ['Made', <Maker key="made" schedule={schedule} />],
        ]}
      />
    </>
  )
}

function Maker({ schedule: { createdAt, createdBy } }: { schedule: ScheduleEntry }) {
  return (
    <>
      <Time at={createdAt} /> by <VisibleText text={createdBy.by} />
      {createdBy.run !== undefined && (
        <>
          , in{' '}
          <Link to={runPath(createdBy.run, createdBy.callId)}>
            <VisibleText text={createdBy.run} />
          </Link>
        </>
      )}
    </>
  )
}
