import { useMemo } from 'react'
import { Field } from '../../components/field.tsx'
import { SuggestInput } from '../../components/suggest-input.tsx'
import { describeCron } from './describe-cron.ts'
import { NextTimes } from './next-times.tsx'
import type { ScheduleForm } from './schedule-form.ts'
import styles from './schedules.module.css'

interface WhenFieldsProps {
  readonly form: ScheduleForm
  readonly problem: string | undefined
  readonly onChange: (part: Partial<ScheduleForm>) => void
}

/** When it runs: an expression, an interval or one time, and what comes of that. */
export function WhenFields({ form, problem, onChange }: WhenFieldsProps) {
  const zones = useMemo(() => Intl.supportedValuesOf('timeZone').map((value) => ({ value })), [])
  const { kind } = form
  return (
    <>
      <div className={styles.grid}>
        <Field label="Repeats">
          {(control) => (
            <select
              {...control}
              value={kind}
              onChange={({ target }) => onChange({ kind: target.value as ScheduleForm['kind'] })}
            >
              <option value="cron">by a cron expression</option>
              <option value="every">at an interval</option>
              <option value="at">once</option>
            </select>
          )}
        </Field>
        {kind === 'cron' && (
          <Field
            label="Expression"
            description={describeCron(form.cron) ?? 'minute hour day month weekday'}
            problem={problem}
            isRequired
          >
            {(control) => (
              <input
                {...control}
                spellCheck={false}
                autoComplete="off"
                value={form.cron}
                onChange={({ target }) => onChange({ cron: target.value })}
              />
            )}
          </Field>
        )}
        {kind === 'every' && (
          <Field label="Interval" description="90s, 15m, 1h or 1d" problem={problem} isRequired>
            {(control) => (
              <input
                {...control}
                autoComplete="off"
                value={form.every}
                onChange={({ target }) => onChange({ every: target.value })}
              />
            )}
          </Field>
        )}
        {kind === 'at' && (
          <Field label="Time" problem={problem} isRequired>
            {(control) => (
              <input
                {...control}
                type="datetime-local"
                value={form.at}
                onChange={({ target }) => onChange({ at: target.value })}
              />
            )}
          </Field>
        )}
        {kind !== 'every' && (
          <Field label="Time zone">
            {(control) => (
              <SuggestInput
                {...control}
                value={form.timeZone}
                suggestions={zones}
                onChange={(timeZone) => onChange({ timeZone })}
              />
            )}
          </Field>
        )}
      </div>
      <NextTimes form={form} />
    </>
  )
}
