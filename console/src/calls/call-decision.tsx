import type { CallEntry } from '../api/types.ts'
import { EffectBadge } from '../components/effect-badge.tsx'
import { Facts } from '../components/facts.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { CallApproval } from './call-approval.tsx'
import type { CallRecord } from './read-call-record.ts'
import { TextLines } from './text-lines.tsx'

/** What policy said to a call, about what, by which rule, and who answered where it asked. */
export function CallDecision({ call, record }: { call: CallEntry; record: CallRecord }) {
  const { effect, rule, targets = [], approvedBy } = call
  const { approvals, lateAnswers, sandbox } = record
  const isAnswered = approvals.some(({ answer }) => answer?.by !== undefined)
  if (effect === undefined && approvals.length === 0) return <p>The call ended before policy was asked.</p>
  return (
    <>
      <Facts
        facts={[
          ['Effect', effect && <EffectBadge key="effect" effect={effect} />],
          [
            'Rule',
            rule && (
              <code key="rule">
                <VisibleText text={rule} />
              </code>
            ),
          ],
          ['Targets', targets.length > 0 && <TextLines key="targets" lines={targets} label="Targets" isCode />],
          ['Sandbox', sandbox],
          ['Approved by', !isAnswered && approvedBy && <VisibleText key="by" text={approvedBy} />],
        ]}
      />
      {approvals.map((asked) => (
        <CallApproval key={asked.id} asked={asked} />
      ))}
      {lateAnswers.length > 0 && (
        <p>
          Not taken, as it was not wanted any more: the answer of <VisibleText text={lateAnswers.join(', ')} />.
        </p>
      )}
    </>
  )
}
