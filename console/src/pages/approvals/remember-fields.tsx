import { type Ref, useId } from 'react'
import type { Approval } from '../../api/types.ts'
import fieldStyles from '../../components/field.module.css'
import { KeyHint } from '../../components/key-hint.tsx'
import { CoverageChoice } from './coverage-choice.tsx'
import type { RememberChoice, RememberFor } from './remember.ts'
import styles from './remember-fields.module.css'

interface RememberFieldsProps {
  readonly choice: RememberChoice
  readonly onChange: (choice: RememberChoice) => void
  readonly coverage: Approval['coverage']
  readonly problem: string | undefined
  readonly ref: Ref<HTMLSelectElement>
}

const CHOICES: readonly (readonly [RememberFor, string])[] = [
  ['once', 'Only this once'],
  ['session', 'In this session'],
  ['always', 'Always'],
  ['until', 'Until a time'],
]

/** For how long the answer holds, and what else it would cover, in words. */
export function RememberFields({ choice, onChange, coverage, problem, ref }: RememberFieldsProps) {
  const id = useId()
  return (
    <div className={styles.fields}>
      <div className={styles.line}>
        <label htmlFor={id}>Answer holds</label>
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
        <KeyHint keys="r" />
        {choice.remember === 'until' && (
          <input
            type="datetime-local"
            aria-label="Holds until"
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
