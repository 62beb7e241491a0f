import { ERRORS } from '@tool-hub/core/errors'
import { useState } from 'react'
import { api } from '../api/session.ts'
import type { CallEntry } from '../api/types.ts'
import { EffectBadge } from '../components/badge.tsx'
import { Button } from '../components/button.tsx'
import { Facts, TextLines } from '../components/details.tsx'
import { Note } from '../components/note.tsx'
import { VisibleText } from '../components/text.tsx'
import { Time } from '../components/time.tsx'
import { showFailure } from '../components/toast.tsx'
import styles from './calls.module.css'
import type { CallRecord, RecordedApproval } from './read-call-record.ts'

/** The decision about a call: its targets, the rule, and the approval. */
export function CallDecision({ call, record }: { call: CallEntry; record: CallRecord }) {
  const { effect, rule, targets = [], approvedBy } = call
  const { approvals, lateAnswers, sandbox } = record
  const isAnswered = approvals.some(({ answer }) => answer?.by !== undefined)
  if (effect === undefined && approvals.length === 0) return <p>The call ended before the policy was evaluated.</p>
  return (
    <>
      <Facts
        facts={[
          ['Decision', effect && <EffectBadge key="effect" effect={effect} />],
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
          Too late, and ignored: the answer of <VisibleText text={lateAnswers.join(', ')} />.
        </p>
      )}
    </>
  )
}

type Answer = NonNullable<RecordedApproval['answer']>

const DECISIONS = new Map([
  ['allow', 'allowed by'],
  ['deny', 'denied by'],
  ['timeout', 'nobody answered in time'],
  ['aborted', 'the call was stopped before anybody answered'],
  ['unavailable', 'no approver was available'],
])

/** An approval of a call and its answer. */
function CallApproval({ asked: { reason, askedAt, answer } }: { asked: RecordedApproval }) {
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

interface CallErrorProps {
  readonly call: CallEntry
  readonly error: { readonly code: string; readonly message: string }
  readonly args: unknown
}

const BY_POLICY = new Set(['POLICY_DENIED', 'APPROVAL_UNAVAILABLE', 'APPROVAL_TIMEOUT'])

/** Why a call failed and what helps; if the policy stopped it, the rule that would allow it. */
export function CallError({ call, error: { code, message }, args }: CallErrorProps) {
  const [fix, setFix] = useState<{ callId: string; words: string }>()
  const known = Object.hasOwn(ERRORS, code) ? ERRORS[code as keyof typeof ERRORS] : undefined
  const explain = async () => {
    try {
      const { effect, fix: words, reason } = await api.policy.explain({ tool: call.tool, input: args })
      setFix({ callId: call.callId, words: words ?? (effect === 'allow' ? 'The policy would allow it now.' : reason) })
    } catch (failure) {
      showFailure('The policy was not explained', failure)
    }
  }
  return (
    <Note tone="bad" title={<VisibleText text={message || (known?.meaning ?? code)} />}>
      {known && <p>{known.fix}</p>}
      <p>
        <code>{code}</code>
      </p>
      {fix?.callId === call.callId && (
        <p role="status">
          Now: <VisibleText text={fix.words} />
        </p>
      )}
      {BY_POLICY.has(code) && args !== undefined && fix?.callId !== call.callId && (
        <div>
          <Button size="small" onClick={explain}>
            What would allow it?
          </Button>
        </div>
      )}
    </Note>
  )
}
