import { CircleCheck, CircleX } from 'lucide-react'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { createValue, useValue } from '../../state/create-value.ts'
import styles from './last-answer.module.css'

interface Answered {
  readonly words: string
  readonly isYes: boolean
  readonly tool: string
  readonly at: number
}

/** What was answered last on this page. */
export const lastAnswer = createValue<Answered | undefined>(undefined)

/** Says what was answered last, below the list: a toast would lie over the buttons of the next one. */
export function LastAnswer() {
  const last = useValue(lastAnswer)
  const Icon = last?.isYes ? CircleCheck : CircleX
  return (
    <p className={styles.last} role="status" data-empty={last === undefined || undefined}>
      {last && (
        <>
          <Icon size={14} aria-hidden="true" className={last.isYes ? styles.yes : styles.no} />
          <span>
            {last.words} <VisibleText text={last.tool} />, <Time at={last.at} />
          </span>
        </>
      )}
    </p>
  )
}
