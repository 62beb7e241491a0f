import type { CallEntry } from '../../api/types.ts'
import { EffectBadge } from '../../components/effect-badge.tsx'
import { Facts } from '../../components/facts.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import styles from './decision-facts.module.css'
import type { AskedApproval, CallRecord } from './read-call-record.ts'

const DECISIONS = new Map([
  ['allow', 'allowed by'],
  ['deny', 'refused by'],
  ['timeout', 'nobody answered in time'],
  ['aborted', 'the call was stopped before an answer'],
  ['unavailable', 'there was nobody to ask'],
])

/** What policy said to a call, about what, by which rule, and who answered where it asked. */
export function DecisionFacts({
  call: { effect, rule, targets = [], approvedBy },
  record,
}: {
  call: CallEntry
  record: CallRecord
}) {
  if (effect === undefined) return <p>The call ended before policy was asked.</p>
  const isAnswered = record.approvals.some(({ answer }) => answer?.by !== undefined)
  return (
    <>
      <Facts
        facts={[
          ['Effect', <EffectBadge key="effect" effect={effect} />],
          [
            'Rule',
            rule && (
              <code key="rule">
                <VisibleText text={rule} />
              </code>
            ),
          ],
          ['Targets', targets.length > 0 && <Targets key="targets" targets={targets} />],
          ['Sandbox', record.sandbox],
          ['Approved by', !isAnswered && approvedBy && <VisibleText key="by" text={approvedBy} />],
        ]}
      />
      {record.approvals.map((asked) => (
        <Asked key={asked.id} asked={asked} />
      ))}
    </>
  )
}

function Targets({ targets }: { targets: readonly string[] }) {
  return (
    <ul className={styles.targets}>
      {targets.map((target) => (
        <li key={target}>
          <code>
            <VisibleText text={target} />
          </code>
        </li>
      ))}
    </ul>
  )
}

function Asked({ asked: { reason, askedAt, answer } }: { asked: AskedApproval }) {
  return (
    <div className={styles.asked}>
      <p>
        Asked{askedAt !== undefined && ' '}
        {askedAt !== undefined && <Time at={askedAt} />}
        {reason !== undefined && ': '}
        {reason !== undefined && <VisibleText text={reason} />}
      </p>
      {!answer && <p>Not answered yet.</p>}
      {answer && (
        <p>
          <strong>
            {DECISIONS.get(answer.decision) ?? answer.decision}{' '}
            {answer.by !== undefined && <VisibleText text={answer.by} />}
          </strong>
          {answer.via !== undefined && ` by ${answer.via}`}, <Time at={answer.at} />
          {answer.isChanged && ', with changed arguments'}
          {answer.remember !== undefined && `, remembered: ${answer.remember}`}
          {answer.covers !== undefined && ` (covers ${answer.covers})`}
          {answer.reason !== undefined && (
            <>
              : “<VisibleText text={answer.reason} />”
            </>
          )}
        </p>
      )}
    </div>
  )
}
