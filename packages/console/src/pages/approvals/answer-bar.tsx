import { Check, PenLine, X } from 'lucide-react'
import { type Ref, useId, useMemo, useRef, useState } from 'react'
import type { Approval, ApprovalAnswer } from '../../api/types.ts'
import type { Action } from '../../api/use-resource.ts'
import { Button, KeyHint } from '../../components/button.tsx'
import fieldStyles from '../../components/field.module.css'
import { RefuseForm } from '../../components/field.tsx'
import { SplitBar } from '../../components/split-view.tsx'
import { VisibleText } from '../../components/text.tsx'
import { useCalm, useCalmShortcut } from '../../lib/calm.ts'
import { useShortcut } from '../../lib/shortcuts.ts'
import { choiceProblem, firstChoice, holdsFor, type RememberChoice, type RememberFor, toAnswer } from './answers.ts'
import styles from './approvals.module.css'
import { subjectOf } from './human-request.ts'

interface AnswersProps {
  readonly approval: Approval
  readonly approve: Action<ApprovalAnswer>
  readonly onEdit: () => void
  /** Whether the keys are for this call. Default: true. */
  readonly hasKeys?: boolean
}

/** The answers to the call that is shown; always visible. */
export function AnswerBar(props: AnswersProps) {
  return (
    <SplitBar label="Answer" isRow>
      <Answers {...props} />
    </SplitBar>
  )
}

/** The answers: allow, deny with a reason, edit first; and what is remembered. */
export function Answers({ approval, approve, onEdit, hasKeys = true }: AnswersProps) {
  const [choice, setChoice] = useState(() => firstChoice(Date.now()))
  const [isDenying, setDenying] = useState(false)
  const remember = useRef<HTMLSelectElement>(null)
  const subject = useMemo(() => subjectOf(approval), [approval])
  const calm = useCalm(subject)
  // These buttons replace those of the denial at the same place.
  const barCalm = useCalm(`${isDenying} ${subject}`)
  const problem = choiceProblem(choice, Date.now())

  const answer = (decision: ApprovalAnswer['decision'], reason?: string) => {
    if (problem !== undefined) return remember.current?.focus()
    void approve.run({ decision, ...toAnswer(choice), ...(reason && { reason }) })
  }
  useCalmShortcut('a', 'Allow', calm, () => answer('allow'), { when: hasKeys })
  useCalmShortcut('d', 'Deny, with a reason', calm, () => setDenying(true), { when: hasKeys })
  useCalmShortcut('e', 'Edit, then allow', calm, onEdit, { when: hasKeys })
  useShortcut('r', 'Choose what is remembered', () => remember.current?.focus(), { when: hasKeys })
  const keyOf = (key: string) => (hasKeys ? key : undefined)

  return (
    <>
      {isDenying ? (
        <RefuseForm
          label="Deny"
          reasonLabel="Reason for the denial"
          placeholder="Reason for the agent (optional)"
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
            shortcut={keyOf('a')}
            isBusy={approve.isBusy}
            calm={barCalm}
            onClick={() => answer('allow')}
          >
            Allow
          </Button>
          <Button
            icon={X}
            shortcut={keyOf('d')}
            disabled={approve.isBusy}
            calm={barCalm}
            onClick={() => setDenying(true)}
          >
            Deny
          </Button>
          <Button icon={PenLine} shortcut={keyOf('e')} disabled={approve.isBusy} calm={barCalm} onClick={onEdit}>
            Edit…
          </Button>
        </div>
      )}
      <RememberFields
        choice={choice}
        onChange={setChoice}
        coverage={approval.coverage}
        problem={problem}
        hasKeys={hasKeys}
        ref={remember}
      />
    </>
  )
}

interface RememberFieldsProps {
  readonly choice: RememberChoice
  readonly onChange: (choice: RememberChoice) => void
  readonly coverage: Approval['coverage']
  readonly problem: string | undefined
  readonly hasKeys: boolean
  readonly ref: Ref<HTMLSelectElement>
}

const CHOICES: readonly (readonly [RememberFor, string])[] = [
  ['once', 'Only this call'],
  ['session', 'In this session'],
  ['always', 'Always'],
  ['until', 'Until a time'],
]

/** How long the answer is remembered, and which calls it covers. */
function RememberFields({ choice, onChange, coverage, problem, hasKeys, ref }: RememberFieldsProps) {
  const id = useId()
  return (
    <div className={styles.fields}>
      <div className={styles.line}>
        <label htmlFor={id}>Remember</label>
        <select
          id={id}
          ref={ref}
          className={fieldStyles.select}
          value={choice.remember}
          onChange={({ target }) => onChange({ ...choice, remember: target.value as RememberFor })}
        >
          {CHOICES.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
        {hasKeys && <KeyHint keys="r" />}
        {choice.remember === 'until' && (
          <input
            type="datetime-local"
            aria-label="Remember until"
            aria-invalid={problem !== undefined}
            className={fieldStyles.select}
            value={choice.until}
            onChange={({ target }) => onChange({ ...choice, until: target.value })}
          />
        )}
      </div>
      {problem !== undefined && <p className={styles.problem}>{problem}</p>}
      {choice.remember !== 'once' && <CoverageChoice choice={choice} onChange={onChange} coverage={coverage} />}
    </div>
  )
}

interface CoverageChoiceProps {
  readonly choice: RememberChoice
  readonly onChange: (choice: RememberChoice) => void
  readonly coverage: Approval['coverage']
}

/** Which calls a remembered answer covers, as described by the service. */
function CoverageChoice({ choice, onChange, coverage }: CoverageChoiceProps) {
  const name = useId()
  const intro = `Without another approval, ${holdsFor(choice)}, for`
  if (coverage.targets === undefined && coverage.pattern === undefined && coverage.values === undefined) {
    return (
      <p className={styles.coverageText}>
        {intro} <VisibleText text={coverage.exact} />.
      </p>
    )
  }
  const options = [
    ['exact', coverage.exact] as const,
    ...(coverage.values === undefined ? [] : [['values', coverage.values] as const]),
    ...(coverage.pattern === undefined ? [] : [['pattern', coverage.pattern] as const]),
    ...(coverage.targets === undefined ? [] : [['targets', coverage.targets] as const]),
  ]
  return (
    <fieldset className={styles.coverage}>
      <legend>{intro}</legend>
      {options.map(([covers, words]) => (
        <label key={covers} className={styles.option}>
          <input
            type="radio"
            name={name}
            checked={choice.covers === covers}
            onChange={() => onChange({ ...choice, covers })}
          />
          <span>
            <VisibleText text={words} />
          </span>
        </label>
      ))}
    </fieldset>
  )
}
