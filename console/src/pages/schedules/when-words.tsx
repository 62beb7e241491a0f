import type { ScheduleEntry } from '../../api/types.ts'
import { classNames } from '../../components/class-names.ts'
import { formatDuration } from '../../components/format-duration.ts'
import { VisibleText } from '../../components/visible-text.tsx'
import { describeCron } from './describe-cron.ts'
import { formatInZone } from './format-in-zone.ts'
import styles from './schedules.module.css'

/** When a schedule runs, in words, with the expression that says so and its zone. */
export function WhenWords({ when, timeZone }: Pick<ScheduleEntry, 'when' | 'timeZone'>) {
  if ('everyMs' in when) return <>every {formatDuration(when.everyMs)}</>
  if ('at' in when) {
    return (
      <>
        once, {formatInZone(Date.parse(when.at), timeZone)} <Zone timeZone={timeZone} />
      </>
    )
  }
  const words = describeCron(when.cron)
  return (
    <>
      {words !== undefined && `${words} `}
      <code className={classNames(styles.whole, words !== undefined && styles.muted)}>
        <VisibleText text={when.cron} />
      </code>{' '}
      <Zone timeZone={timeZone} />
    </>
  )
}

function Zone({ timeZone }: { timeZone: string }) {
  return (
    <span className={styles.muted}>
      <VisibleText text={timeZone} />
    </span>
  )
}
