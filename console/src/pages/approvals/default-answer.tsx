import type { Question } from '../../api/types.ts'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import styles from './ask-detail.module.css'

/** What happens when nobody answers, and when. */
export function DefaultAnswer({ question: { defaultAnswer, expiresAt } }: { question: Question }) {
  if (defaultAnswer === undefined) {
    return (
      <p className={styles.quiet}>
        If nobody answers, the call ends without an answer <Time at={expiresAt} />.
      </p>
    )
  }
  return (
    <p className={styles.quiet}>
      If nobody answers, “<VisibleText text={defaultAnswer} />” is taken <Time at={expiresAt} />.
    </p>
  )
}
