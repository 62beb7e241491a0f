import { api } from '../../api/api.ts'
import { useQuery } from '../../api/use-query.ts'
import { Note } from '../../components/note.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { useSettled } from '../../state/use-settled.ts'
import { NextTime } from './next-time.tsx'
import { type ScheduleForm, whenOf } from './schedule-form.ts'
import styles from './schedules.module.css'

/** The next times of what is typed, or what is wrong with it, as the service reads it. */
export function NextTimes({ form }: { form: ScheduleForm }) {
  const wanted = useSettled(JSON.stringify({ ...whenOf(form), timeZone: form.timeZone || undefined }), 300)
  const isEmpty = form[form.kind].trim() === ''
  const { data, error } = useQuery(`schedule-times ${isEmpty ? '' : wanted}`, async () =>
    isEmpty ? undefined : api.schedules.times(JSON.parse(wanted)),
  )
  if (isEmpty) return null
  if (error) return <Note tone="warn" title={<VisibleText text={error.message} />} isLive />
  if (!data) return null
  if (data.times.length === 0) return <Note tone="warn" title="It never comes to that time." isLive />
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
