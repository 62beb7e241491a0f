import { X } from 'lucide-react'
import { useState } from 'react'
import { Button } from './button.tsx'
import { classNames } from './class-names.ts'
import fieldStyles from './field.module.css'
import styles from './refuse-form.module.css'

interface RefuseFormProps {
  /** What the button says: “Deny”. */
  readonly label: string
  readonly reasonLabel: string
  readonly placeholder: string
  readonly isBusy: boolean
  readonly onRefuse: (reason: string) => void
  readonly onCancel: () => void
}

/** A no with a reason: Enter sends it, Escape takes it back. */
export function RefuseForm({ label, reasonLabel, placeholder, isBusy, onRefuse, onCancel }: RefuseFormProps) {
  const [reason, setReason] = useState('')
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        onRefuse(reason.trim())
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
        onKeyDown={({ key }) => key === 'Escape' && onCancel()}
      />
      <Button type="submit" variant="danger" icon={X} isBusy={isBusy}>
        {label}
      </Button>
      <Button variant="quiet" onClick={onCancel}>
        Cancel
      </Button>
    </form>
  )
}
