import { X } from 'lucide-react'
import { useState } from 'react'
import { type Calm, useCalm } from '../keyboard/use-calm.ts'
import { Button } from './button.tsx'
import { classNames } from './class-names.ts'
import fieldStyles from './field.module.css'
import styles from './refuse-form.module.css'

interface RefuseFormProps {
  /** What the button says: “Deny”. */
  readonly label: string
  readonly reasonLabel: string
  readonly placeholder: string
  /** Of what is decided on: Enter counts by it. The button counts its own time, since it stands where others stood. */
  readonly calm: Calm
  readonly isBusy: boolean
  readonly onRefuse: (reason: string) => void
  readonly onCancel: () => void
}

/** A no with a reason: Enter sends it, Escape takes it back. */
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
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        refuse()
      }}
    >
      <input
        // biome-ignore lint/a11y/noAutofocus: it appears because somebody pressed the button that refuses, and is what they want next.
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
