import { Time } from '../components/time.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import styles from './call-approval.module.css'
import type { AskedApproval } from './read-call-record.ts'

type Answer = NonNullable<AskedApproval['answer']>

const DECISIONS = new Map([
  ['allow', 'allowed by'],
  ['deny', 'denied by'],
  ['timeout', 'nobody answered in time'],
  ['aborted', 'the call was stopped before an answer'],
  ['unavailable', 'there was nobody to ask'],
])

/** How a person was asked about a call, and what they said. */
export function CallApproval({ asked: { reason, askedAt, answer } }: { asked: AskedApproval }) {
  return (
    <div className={styles.asked}>
      <p>
        Asked{askedAt !== undefined && ' '}
        {askedAt !== undefined && <Time at={askedAt} />}
        {reason !== undefined && ': '}
        {reason !== undefined && <VisibleText text={reason} />}
      </p>
      {answer ? <AnswerWords answer={answer} /> : <p>Not answered yet.</p>}
    </div>
  )
}

function AnswerWords({ answer: { decision, by, via, at, isChanged, remember, covers, reason } }: { answer: Answer }) {
  const isKept = remember !== undefined && remember !== 'once'
  return (
    <p>
      <strong>
        <VisibleText text={DECISIONS.get(decision) ?? decision} />
        {by !== undefined && <VisibleText text={` ${by}`} />}
      </strong>
      {via !== undefined && <VisibleText text={` via ${via}`} />}, <Time at={at} />
      {isChanged && ', with changed arguments'}
      {isKept && <VisibleText text={`, remembered: ${remember}`} />}
      {isKept && covers !== undefined && <VisibleText text={` (covers ${covers})`} />}
      {reason !== undefined && (
        <>
          : “<VisibleText text={reason} />”
        </>
      )}
    </p>
  )
}
