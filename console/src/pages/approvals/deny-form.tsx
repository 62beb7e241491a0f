import { X } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { classNames } from '../../components/class-names.ts'
import fieldStyles from '../../components/field.module.css'
import styles from './ask-detail.module.css'

interface DenyFormProps {
  readonly isBusy: boolean
  readonly onDeny: (reason: string) => void
  readonly onCancel: () => void
}

/** A no with a reason, which the agent is told: Enter sends it, Escape takes it back. */
export function DenyForm({ isBusy, onDeny, onCancel }: DenyFormProps) {
  const [reason, setReason] = useState('')
  return (
    <form
      className={classNames(styles.buttons, styles.grow)}
      onSubmit={(event) => {
        event.preventDefault()
        onDeny(reason.trim())
      }}
    >
      <input
        // biome-ignore lint/a11y/noAutofocus: it appears because somebody pressed “Deny”, and is what they want next.
        autoFocus
        aria-label="Reason for the denial"
        placeholder="Reason, which the agent is told (optional)"
        className={classNames(fieldStyles.control, styles.grow)}
        maxLength={2_000}
        value={reason}
        onChange={({ target }) => setReason(target.value)}
        onKeyDown={({ key }) => key === 'Escape' && onCancel()}
      />
      <Button type="submit" variant="danger" icon={X} isBusy={isBusy}>
        Deny
      </Button>
      <Button variant="quiet" onClick={onCancel}>
        Cancel
      </Button>
    </form>
  )
}
