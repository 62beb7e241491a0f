import { Time } from '../../components/time.tsx'
import { formatInZone } from './format-in-zone.ts'
import styles from './schedules.module.css'

const DAY_MS = 86_400_000

/** When something will be: by the clocks of its zone, and how far away that is while it is near. */
export function NextTime({ at, timeZone }: { at: number; timeZone: string }) {
  const isNear = at - Date.now() < DAY_MS
  return (
    <span>
      {isNear && <Time at={at} />}{' '}
      <span className={isNear ? styles.muted : undefined}>{formatInZone(at, timeZone)}</span>
    </span>
  )
}
