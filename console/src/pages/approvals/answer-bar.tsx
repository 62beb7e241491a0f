import { Check, PenLine, X } from 'lucide-react'
import { useMemo, useRef, useState } from 'react'
import type { Approval, ApprovalAnswer } from '../../api/types.ts'
import { Button } from '../../components/button.tsx'
import { RefuseForm } from '../../components/refuse-form.tsx'
import { SplitBar } from '../../components/split-view.tsx'
import { useCalm, useCalmShortcut } from '../../keyboard/use-calm.ts'
import { useShortcut } from '../../keyboard/use-shortcut.ts'
import { subjectOf } from './ask.ts'
import styles from './ask-detail.module.css'
import { choiceProblem, firstChoice, toAnswer } from './remember.ts'
import { RememberFields } from './remember-fields.tsx'
import type { Approve } from './use-approve.ts'

interface AnswerBarProps {
  readonly approval: Approval
  readonly approve: Approve
  readonly onEdit: () => void
}

/** The answers: allow, deny with a reason, edit first; and what of it is remembered. */
export function AnswerBar({ approval, approve, onEdit }: AnswerBarProps) {
  const [choice, setChoice] = useState(() => firstChoice(Date.now()))
  const [isDenying, setDenying] = useState(false)
  const remember = useRef<HTMLSelectElement>(null)
  const subject = useMemo(() => subjectOf(approval), [approval])
  const calm = useCalm(subject)
  // They come back where those of the denial stood.
  const barCalm = useCalm(`${isDenying} ${subject}`)
  const problem = choiceProblem(choice, Date.now())

  const answer = (decision: ApprovalAnswer['decision'], reason?: string) => {
    if (problem !== undefined) return remember.current?.focus()
    void approve.send({ decision, ...toAnswer(choice), ...(reason && { reason }) })
  }
  useCalmShortcut('a', 'Allow', calm, () => answer('allow'))
  useCalmShortcut('d', 'Deny, with a reason', calm, () => setDenying(true))
  useCalmShortcut('e', 'Edit, then allow', calm, onEdit)
  useShortcut('r', 'Choose what is remembered', () => remember.current?.focus())

  return (
    <SplitBar label="Answer" isRow>
      {isDenying ? (
        <RefuseForm
          label="Deny"
          reasonLabel="Reason for the denial"
          placeholder="Reason, which the agent is told (optional)"
          calm={calm}
          isBusy={approve.isBusy}
          onRefuse={(reason) => answer('deny', reason)}
          onCancel={() => setDenying(false)}
        />
      ) : (
        <div className={styles.buttons}>
          <Button
            variant="primary"
            icon={Check}
            shortcut="a"
            isBusy={approve.isBusy}
            calm={barCalm}
            onClick={() => answer('allow')}
          >
            Allow
          </Button>
          <Button icon={X} shortcut="d" disabled={approve.isBusy} calm={barCalm} onClick={() => setDenying(true)}>
            Deny
          </Button>
          <Button icon={PenLine} shortcut="e" disabled={approve.isBusy} calm={barCalm} onClick={onEdit}>
            Edit…
          </Button>
        </div>
      )}
      <RememberFields
        choice={choice}
        onChange={setChoice}
        coverage={approval.coverage}
        problem={problem}
        ref={remember}
      />
    </SplitBar>
  )
}
