import { type ReactNode, useId } from 'react'
import styles from './field.module.css'

interface FieldProps {
  readonly label: ReactNode
  readonly description?: ReactNode
  readonly problem?: string
  readonly isRequired?: boolean
  /** The control; spread the props it is given on the input. */
  readonly children: (props: FieldControl) => ReactNode
}

/** What a control needs to belong to its label, description and problem. */
export interface FieldControl {
  readonly id: string
  readonly className: string | undefined
  readonly required: boolean
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': boolean
}

/** A control with its label, what it is for, and what is wrong with it. */
export function Field({ label, description, problem, isRequired = false, children }: FieldProps) {
  const id = useId()
  const described = [description !== undefined && `${id}-about`, problem !== undefined && `${id}-problem`].filter(
    Boolean,
  )
  return (
    <div className={styles.field}>
      <label htmlFor={id} className={styles.label}>
        {label}
        {isRequired && (
          <span className={styles.required} title="required">
            <span aria-hidden="true">*</span>
            <span className="visually-hidden"> (required)</span>
          </span>
        )}
      </label>
      {children({
        id,
        className: styles.control,
        required: isRequired,
        'aria-describedby': described.length > 0 ? described.join(' ') : undefined,
        'aria-invalid': problem !== undefined,
      })}
      {description !== undefined && (
        <p id={`${id}-about`} className={styles.description}>
          {description}
        </p>
      )}
      {problem !== undefined && (
        <p id={`${id}-problem`} className={styles.problem}>
          {problem}
        </p>
      )}
    </div>
  )
}
