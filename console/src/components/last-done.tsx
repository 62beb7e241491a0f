import { CircleCheck, CircleX } from 'lucide-react'
import styles from './last-done.module.css'
import { Time } from './time.tsx'
import { VisibleText } from './visible-text.tsx'

/** What was decided, and on what. */
export interface Done {
  readonly words: string
  readonly isYes: boolean
  readonly subject: string
  readonly at: number
}

/** Says what was decided last, below the list: a toast would lie over the buttons of the next one. */
export function LastDone({ done }: { done: Done | undefined }) {
  const Icon = done?.isYes ? CircleCheck : CircleX
  return (
    <p className={styles.last} role="status" data-empty={done === undefined || undefined}>
      {done && (
        <>
          <Icon size={14} aria-hidden="true" className={done.isYes ? styles.yes : styles.no} />
          <span>
            {done.words} <VisibleText text={done.subject} />, <Time at={done.at} />
          </span>
        </>
      )}
    </p>
  )
}
