import { Plus, X } from 'lucide-react'
import { api } from '../../api/api.ts'
import { useQuery } from '../../api/use-query.ts'
import { Button } from '../../components/button.tsx'
import { classNames } from '../../components/class-names.ts'
import { Field } from '../../components/field.tsx'
import { SuggestInput } from '../../components/suggest-input.tsx'
import type { CallForm, ScheduleProblems } from './schedule-form.ts'
import styles from './schedules.module.css'

interface CallFieldsProps {
  readonly calls: readonly CallForm[]
  readonly problems: ScheduleProblems
  readonly onChange: (calls: readonly CallForm[]) => void
}

const MOST = 20

/** The calls of a schedule, one after the other. */
export function CallFields({ calls, problems, onChange }: CallFieldsProps) {
  const tools = useQuery('tools', () => api.tools({ hidden: true }))
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
      {calls.length < MOST && (
        <div>
          <Button size="small" icon={Plus} onClick={() => onChange([...calls, { tool: '', input: '{}' }])}>
            Add a call
          </Button>
        </div>
      )}
    </fieldset>
  )
}
