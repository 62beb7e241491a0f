import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { Link } from '../../router/link.tsx'
import type { Ask } from './ask.ts'
import styles from './ask-detail.module.css'
import { AskState } from './ask-state.tsx'
import { Deadline } from './deadline.tsx'

/** Which tool, who asks, since when and until when. */
export function AskHeading({ ask, isOver }: { ask: Ask; isOver: boolean }) {
  return (
    <header>
      <div className={styles.heading}>
        <h2>
          <VisibleText text={ask.tool} />
        </h2>
        {isOver ? <AskState ask={ask} /> : <Deadline at={ask.expiresAt} />}
      </div>
      <p className={styles.who}>
        <VisibleText text={ask.caller} /> asked <Time at={ask.askedAt} /> in{' '}
        <Link to={`/runs/${encodeURIComponent(ask.run)}`}>{ask.run}</Link>
      </p>
    </header>
  )
}
