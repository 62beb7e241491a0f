import { useId, useState } from 'react'
import { api } from '../../api/api.ts'
import { refreshQueries } from '../../api/query-cache.ts'
import { readHint } from '../../api/read-hint.ts'
import type { ScheduleEntry } from '../../api/types.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Field } from '../../components/field.tsx'
import { Note } from '../../components/note.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { useCalm } from '../../keyboard/use-calm.ts'
import { navigate } from '../../router/router.ts'
import { CallFields } from './call-fields.tsx'
import { PolicyFields } from './policy-fields.tsx'
import {
  checkForm,
  emptyForm,
  type ScheduleForm,
  type ScheduleProblems,
  toBody,
  toChange,
  toForm,
} from './schedule-form.ts'
import { schedulePath } from './schedule-path.ts'
import styles from './schedules.module.css'
import { WhenFields } from './when-fields.tsx'

/** A form for a new schedule, or for one that there is; leads to it. */
export function ScheduleDialog({ schedule, onClose }: { schedule: ScheduleEntry | undefined; onClose: () => void }) {
  const formId = useId()
  const [before] = useState<ScheduleForm>(() => (schedule ? toForm(schedule) : emptyForm()))
  const [form, setForm] = useState(before)
  const [problems, setProblems] = useState<ScheduleProblems>({})
  const [error, setError] = useState<Error>()
  const [isBusy, setBusy] = useState(false)
  const calm = useCalm('')
  const hint = readHint(error)
  const change = (part: Partial<ScheduleForm>) => setForm((known) => ({ ...known, ...part }))

  const save = async () => {
    const found = checkForm(form)
    setProblems(found)
    setError(undefined)
    if (Object.keys(found).length > 0) return
    setBusy(true)
    try {
      const { id } = schedule
        ? await api.schedules.change(schedule.id, toChange(before, form))
        : await api.schedules.add(toBody(form))
      refreshQueries('schedules')
      onClose()
      navigate(schedulePath(id))
    } catch (failure) {
      setError(failure as Error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog
      isOpen
      onClose={onClose}
      isWide
      title={schedule ? 'Edit the schedule' : 'New schedule'}
      description="Its calls are judged by the rules again each time they are made."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={formId} variant="primary" isBusy={isBusy} calm={calm}>
            {schedule ? 'Save' : 'Make the schedule'}
          </Button>
        </>
      }
    >
      <form
        id={formId}
        className={styles.form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        {error && (
          <Note tone="bad" title={<VisibleText text={error.message} />} isLive>
            {hint !== undefined && (
              <p>
                <VisibleText text={hint} />
              </p>
            )}
          </Note>
        )}
        {!schedule && (
          <Field label="Name" description="Rules and lists know it by this." problem={problems.name} isRequired>
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
      </form>
    </Dialog>
  )
}
