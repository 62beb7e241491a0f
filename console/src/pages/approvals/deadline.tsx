import { Timer } from 'lucide-react'
import { formatDate } from '../../components/format-clock.ts'
import { formatDuration } from '../../components/format-duration.ts'
import { now } from '../../components/now.ts'
import { useValue } from '../../state/create-value.ts'
import styles from './ask-list.module.css'

const SOON_MS = 120_000

/** How long there is to answer; strongly when it is little. */
export function Deadline({ at }: { at: string }) {
  const leftMs = Date.parse(at) - useValue(now)
  const title = `Answer before ${formatDate(new Date(at))}`
  if (leftMs <= 0) return <span className={styles.deadline}>time is over</span>
  if (leftMs > SOON_MS) {
    return (
      <span className={styles.deadline} title={title}>
        {formatDuration(Math.round(leftMs / 60_000) * 60_000)} left
      </span>
    )
  }
  return (
    <span className={styles.soon} title={title}>
      <Timer size={12} aria-hidden="true" />
      {formatDuration(Math.ceil(leftMs / 1_000) * 1_000)} left
    </span>
  )
}
