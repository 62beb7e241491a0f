import { Field } from '../../components/field.tsx'
import { MISSED_WORDS, OVERLAP_WORDS } from './policy-words.ts'
import type { ScheduleForm, ScheduleProblems } from './schedule-form.ts'
import styles from './schedules.module.css'

interface PolicyFieldsProps {
  readonly form: ScheduleForm
  readonly problems: ScheduleProblems
  readonly onChange: (part: Partial<ScheduleForm>) => void
}

/** What happens when a time is missed, two meet, or something fails. */
export function PolicyFields({ form, problems, onChange }: PolicyFieldsProps) {
  const isWrong = problems.jitter !== undefined || problems.timeout !== undefined
  return (
    <details open={isWrong || undefined}>
      <summary className={styles.summary}>When something is in the way</summary>
      <div className={styles.more}>
        <div className={styles.grid}>
          <Choice
            label="Missed times"
            value={form.missed}
            words={MISSED_WORDS}
            onChange={(missed) => onChange({ missed })}
          />
          <Choice
            label="Overlap"
            value={form.overlap}
            words={OVERLAP_WORDS}
            onChange={(overlap) => onChange({ overlap })}
          />
          <Amount
            label="Put off by up to (seconds)"
            value={form.jitterSeconds}
            problem={problems.jitter}
            onChange={(jitterSeconds) => onChange({ jitterSeconds })}
          />
          <Amount
            label="Longest run (minutes)"
            value={form.timeoutMinutes}
            problem={problems.timeout}
            onChange={(timeoutMinutes) => onChange({ timeoutMinutes })}
          />
        </div>
        <Field label="Go on after a call that failed">
          {(control) => (
            <input
              {...control}
              type="checkbox"
              checked={form.continueOnError}
              onChange={({ target }) => onChange({ continueOnError: target.checked })}
            />
          )}
        </Field>
      </div>
    </details>
  )
}

interface ChoiceProps<Value extends string> {
  readonly label: string
  readonly value: Value
  readonly words: Record<Value, string>
  readonly onChange: (value: Value) => void
}

function Choice<Value extends string>({ label, value, words, onChange }: ChoiceProps<Value>) {
  return (
    <Field label={label}>
      {(control) => (
        <select {...control} value={value} onChange={({ target }) => onChange(target.value as Value)}>
          {Object.entries<string>(words).map(([each, about]) => (
            <option key={each} value={each}>
              {about}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

interface AmountProps {
  readonly label: string
  readonly value: string
  readonly problem: string | undefined
  readonly onChange: (value: string) => void
}

function Amount({ label, value, problem, onChange }: AmountProps) {
  return (
    <Field label={label} problem={problem}>
      {(control) => (
        <input
          {...control}
          inputMode="decimal"
          autoComplete="off"
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  )
}
