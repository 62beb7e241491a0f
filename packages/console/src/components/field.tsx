import { X } from 'lucide-react'
import { type InputHTMLAttributes, type ReactNode, useId, useState } from 'react'
import { type Calm, useCalm } from '../lib/calm.ts'
import { classNames } from '../lib/class-names.ts'
import { Button } from './button.tsx'
import fieldStyles from './field.module.css'
import styles from './field.module.css'

interface FieldProps {
  readonly label: ReactNode
  readonly description?: ReactNode
  readonly problem?: string
  readonly isRequired?: boolean
  /** Renders the control; spread the given props on the input. */
  readonly children: (props: FieldControl) => ReactNode
}

/** The props that connect a control with its label, description and problem. */
export interface FieldControl {
  readonly id: string
  readonly className: string | undefined
  readonly required: boolean
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': boolean
}

/** A control with its label, description and problem. */
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

/** A suggestion; `about` describes it. */
interface Suggestion {
  readonly value: string
  readonly about?: string
}

interface SuggestInputProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'value' | 'onChange' | 'list'> {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly suggestions: readonly Suggestion[]
}

const MAX_SUGGESTIONS = 500

/** A text field with suggestions; any other text is allowed. */
export function SuggestInput({ value, onChange, suggestions, className, ...rest }: SuggestInputProps) {
  const id = useId()
  return (
    <>
      <input
        {...rest}
        list={id}
        spellCheck={false}
        autoComplete="off"
        className={classNames(fieldStyles.control, className)}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
      <datalist id={id}>
        {suggestions.slice(0, MAX_SUGGESTIONS).map((each) => (
          <option key={each.value} value={each.value}>
            {each.about}
          </option>
        ))}
      </datalist>
    </>
  )
}

interface RefuseFormProps {
  /** The label of the button: “Deny”. */
  readonly label: string
  readonly reasonLabel: string
  readonly placeholder: string
  /** Of the subject, for Enter. The button has one of its own, since it replaces other buttons at the same place. */
  readonly calm: Calm
  readonly isBusy: boolean
  readonly onRefuse: (reason: string) => void
  readonly onCancel: () => void
}

/** A refusal with a reason: Enter sends it, Escape cancels it. */
export function RefuseForm(props: RefuseFormProps) {
  const { label, reasonLabel, placeholder, calm, isBusy, onRefuse, onCancel } = props
  const own = useCalm('')
  const both: Calm = {
    isCalm: own.isCalm && calm.isCalm,
    accepts: (press) => own.accepts(press) && calm.accepts(press),
  }
  const refuse = () => !isBusy && onRefuse(reason.trim())
  const [reason, setReason] = useState('')
  return (
    <form
      className={styles.refuse}
      onSubmit={(event) => {
        event.preventDefault()
        refuse()
      }}
    >
      <input
        // biome-ignore lint/a11y/noAutofocus: the user has just pressed the button that opens this form.
        autoFocus
        aria-label={reasonLabel}
        placeholder={placeholder}
        className={classNames(fieldStyles.control, styles.reason)}
        maxLength={2_000}
        value={reason}
        onChange={({ target }) => setReason(target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onCancel()
          if (event.key !== 'Enter') return
          event.preventDefault()
          if (calm.accepts(event)) refuse()
        }}
      />
      <Button type="submit" variant="danger" icon={X} isBusy={isBusy} calm={both}>
        {label}
      </Button>
      <Button variant="quiet" onClick={onCancel}>
        Cancel
      </Button>
    </form>
  )
}
