import { useMemo } from 'react'
import { api } from '../../api/session.ts'
import type { ScheduleEntry } from '../../api/types.ts'
import { useResource } from '../../api/use-resource.ts'
import { Field, SuggestInput } from '../../components/field.tsx'
import { Note } from '../../components/note.tsx'
import { VisibleText } from '../../components/text.tsx'
import { Time } from '../../components/time.tsx'
import { classNames } from '../../lib/class-names.ts'
import { formatDuration } from '../../lib/format.ts'
import { useSettled } from '../../lib/hooks.ts'
import { describeCron, formatInZone, formatNear } from './describe.ts'
import { type ScheduleForm, whenOf } from './schedule-form.ts'
import styles from './schedules.module.css'

interface WhenFieldsProps {
  readonly form: ScheduleForm
  readonly problem: string | undefined
  readonly onChange: (part: Partial<ScheduleForm>) => void
}

/** When it runs: an expression, an interval or a time, with a preview of the next times. */
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

/** The next times of the form, or its problem, as the service reports them. */
function NextTimes({ form }: { form: ScheduleForm }) {
  const wanted = useSettled(JSON.stringify({ ...whenOf(form), timeZone: form.timeZone || undefined }), 300)
  const isEmpty = form[form.kind].trim() === ''
  const { data, error } = useResource(['schedule-times', isEmpty ? '' : wanted], async () =>
    isEmpty ? null : api.schedules.times(JSON.parse(wanted)),
  )
  if (isEmpty) return null
  if (error) return <Note tone="warn" title={<VisibleText text={error.message} />} isLive />
  if (!data) return null
  if (data.times.length === 0) return <Note tone="warn" title="This time never occurs." isLive />
  return (
    <section aria-label="Next times">
      <h3 className={styles.small}>Next times</h3>
      <ul className={styles.times}>
        {data.times.map((at) => (
          <li key={at}>
            <NextTime at={at} timeZone={data.timeZone} />
          </li>
        ))}
      </ul>
    </section>
  )
}

const DAY_MS = 86_400_000

/** A future time in its time zone; relative if it is within a day. */
export function NextTime({ at, timeZone }: { at: number; timeZone: string }) {
  if (at - Date.now() > DAY_MS) return <span>{formatInZone(at, timeZone)}</span>
  return (
    <span title={formatInZone(at, timeZone)}>
      <Time at={at} /> <span className={classNames(styles.muted, styles.whole)}>{formatNear(at, timeZone)}</span>
    </span>
  )
}

/** When a schedule runs, with its expression and time zone. */
export function WhenText({ when, timeZone }: Pick<ScheduleEntry, 'when' | 'timeZone'>) {
  if ('everyMs' in when) return <>every {formatDuration(when.everyMs)}</>
  if ('at' in when) {
    return (
      <>
        once, {formatInZone(Date.parse(when.at), timeZone)} <Zone timeZone={timeZone} />
      </>
    )
  }
  const words = describeCron(when.cron)
  return (
    <>
      {words !== undefined && `${words} `}
      <code className={classNames(styles.whole, words !== undefined && styles.muted)}>
        <VisibleText text={when.cron} />
      </code>{' '}
      <Zone timeZone={timeZone} />
    </>
  )
}

function Zone({ timeZone }: { timeZone: string }) {
  return (
    <span className={styles.muted}>
      <VisibleText text={timeZone} />
    </span>
  )
}
