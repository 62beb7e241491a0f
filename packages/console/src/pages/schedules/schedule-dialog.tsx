import { Plus, X } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/session.ts'
import type { ScheduleEntry } from '../../api/types.ts'
import { useAction, useResource } from '../../api/use-resource.ts'
import { Button } from '../../components/button.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { Field, SuggestInput } from '../../components/field.tsx'
import { useCalm } from '../../lib/calm.ts'
import { classNames } from '../../lib/class-names.ts'
import { navigate } from '../../router/router.ts'
import {
  type CallForm,
  checkForm,
  emptyForm,
  MISSED_WORDS,
  OVERLAP_WORDS,
  type ScheduleForm,
  type ScheduleProblems,
  schedulePath,
  toBody,
  toChange,
  toForm,
} from './schedule-form.ts'
import styles from './schedules.module.css'
import { WhenFields } from './when.tsx'

/** The form for a new schedule or an existing one; opens it afterwards. */
export function ScheduleDialog({ schedule, onClose }: { schedule: ScheduleEntry | undefined; onClose: () => void }) {
  const [before] = useState<ScheduleForm>(() => (schedule ? toForm(schedule) : emptyForm()))
  const [form, setForm] = useState(before)
  const [problems, setProblems] = useState<ScheduleProblems>({})
  const calm = useCalm('')
  const change = (part: Partial<ScheduleForm>) => setForm((known) => ({ ...known, ...part }))

  const save = useAction(
    async () => {
      const { id } = schedule
        ? await api.schedules.change(schedule.id, toChange(before, form))
        : await api.schedules.add(toBody(form))
      onClose()
      navigate(schedulePath(id))
    },
    { refreshes: ['schedules'] },
  )
  const submit = () => {
    const found = checkForm(form)
    setProblems(found)
    if (Object.keys(found).length === 0) void save.submit()
  }
  return (
    <FormDialog
      onClose={onClose}
      isWide
      title={schedule ? 'Edit the schedule' : 'New schedule'}
      description="The policy decides about its calls each time they are made."
      submit={schedule ? 'Save' : 'Create the schedule'}
      isBusy={save.isBusy}
      calm={calm}
      error={save.error}
      onSubmit={submit}
    >
      {!schedule && (
        <Field label="Name" description="Used in rules and lists." problem={problems.name} isRequired>
          {(control) => (
            <input
              {...control}
              autoComplete="off"
              value={form.name}
              onChange={({ target }) => change({ name: target.value })}
            />
          )}
        </Field>
      )}
      <WhenFields form={form} problem={problems.when} onChange={change} />
      <CallFields calls={form.calls} problems={problems} onChange={(calls) => change({ calls })} />
      <PolicyFields form={form} problems={problems} onChange={change} />
    </FormDialog>
  )
}

interface CallFieldsProps {
  readonly calls: readonly CallForm[]
  readonly problems: ScheduleProblems
  readonly onChange: (calls: readonly CallForm[]) => void
}

const MAX_CALLS = 20

/** The calls of a schedule, in order. */
function CallFields({ calls, problems, onChange }: CallFieldsProps) {
  const tools = useResource(['tools'], () => api.tools({ hidden: true }))
  const suggestions = (tools.data ?? []).map(({ tool, title }) => ({ value: tool, about: title }))
  const change = (index: number, part: Partial<CallForm>) =>
    onChange(calls.map((call, at) => (at === index ? { ...call, ...part } : call)))
  return (
    <fieldset className={styles.group}>
      <legend>Calls, in this order</legend>
      {calls.map((call, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a call has no name, and its fields keep nothing of their own.
        <div key={index} className={styles.call}>
          <Field label={`Tool ${index + 1}`} problem={problems[`tool ${index}`]} isRequired>
            {(control) => (
              <SuggestInput
                {...control}
                value={call.tool}
                suggestions={suggestions}
                onChange={(tool) => change(index, { tool })}
              />
            )}
          </Field>
          <Field label={`Arguments ${index + 1}`} description="As JSON." problem={problems[`input ${index}`]}>
            {(control) => (
              <textarea
                {...control}
                className={classNames(control.className, styles.mono)}
                rows={Math.min(12, Math.max(3, call.input.split('\n').length))}
                spellCheck={false}
                value={call.input}
                onChange={({ target }) => change(index, { input: target.value })}
              />
            )}
          </Field>
          {calls.length > 1 && (
            <div>
              <Button
                size="small"
                variant="quiet"
                icon={X}
                onClick={() => onChange(calls.filter((_, at) => at !== index))}
              >
                Remove call {index + 1}
              </Button>
            </div>
          )}
        </div>
      ))}
      {calls.length < MAX_CALLS && (
        <div>
          <Button size="small" icon={Plus} onClick={() => onChange([...calls, { tool: '', input: '{}' }])}>
            Add a call
          </Button>
        </div>
      )}
    </fieldset>
  )
}

interface PolicyFieldsProps {
  readonly form: ScheduleForm
  readonly problems: ScheduleProblems
  readonly onChange: (part: Partial<ScheduleForm>) => void
}

/** What happens after a missed time, an overlap or a failure. */
function PolicyFields({ form, problems, onChange }: PolicyFieldsProps) {
  const isWrong = problems.jitter !== undefined || problems.timeout !== undefined
  return (
    <details open={isWrong || undefined}>
      <summary className={styles.summary}>Failures and overlaps</summary>
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
            label="Random delay of up to (seconds)"
            value={form.jitterSeconds}
            problem={problems.jitter}
            onChange={(jitterSeconds) => onChange({ jitterSeconds })}
          />
          <Amount
            label="Time limit (minutes)"
            value={form.timeoutMinutes}
            problem={problems.timeout}
            onChange={(timeoutMinutes) => onChange({ timeoutMinutes })}
          />
        </div>
        <Field label="Continue after a failed call">
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
