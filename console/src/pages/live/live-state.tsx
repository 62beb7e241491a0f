import { ArrowUp, CirclePause, Radio } from 'lucide-react'
import { Button } from '../../components/button.tsx'
import { classNames } from '../../components/class-names.ts'
import type { LiveSnapshot } from './create-live-list.ts'
import styles from './live-state.module.css'
import type { Hold } from './use-hold.ts'

/** Whether the list follows what happens, how many calls it keeps back, and the way to them. */
export function LiveState({ hold, snapshot }: { hold: Hold; snapshot: LiveSnapshot }) {
  const { rows, waiting, isComplete } = snapshot
  const Icon = hold.isHeld ? CirclePause : Radio
  return (
    <div className={styles.state}>
      {waiting > 0 && (
        <Button size="small" variant="primary" icon={ArrowUp} shortcut="n" onClick={hold.resume}>
          {waiting.toLocaleString('en')} new
        </Button>
      )}
      <span className={classNames(styles.word, hold.isHeld && styles.held)}>
        <Icon size={13} aria-hidden="true" />
        {wordFor(hold)}
        {hold.isHeld && !hold.isPaused && <span className={styles.why}>while you read</span>}
      </span>
      <span className={styles.count}>
        {rows.length.toLocaleString('en')}
        {isComplete ? '' : '+'} {rows.length === 1 ? 'call' : 'calls'}
      </span>
    </div>
  )
}

function wordFor({ isHeld, isPaused }: Hold): string {
  if (isPaused) return 'paused'
  return isHeld ? 'holding' : 'following'
}
