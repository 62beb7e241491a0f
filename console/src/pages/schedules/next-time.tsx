import { classNames } from '../../components/class-names.ts'
import { Time } from '../../components/time.tsx'
import { formatInZone, formatNear } from './format-in-zone.ts'
import styles from './schedules.module.css'

const DAY_MS = 86_400_000

/** When something will be: by the clocks of its zone, and how far away that is while it is near. */
export function NextTime({ at, timeZone }: { at: number; timeZone: string }) {
  if (at - Date.now() > DAY_MS) return <span>{formatInZone(at, timeZone)}</span>
  return (
    <span title={formatInZone(at, timeZone)}>
      <Time at={at} /> <span className={classNames(styles.muted, styles.whole)}>{formatNear(at, timeZone)}</span>
    </span>
  )
}
