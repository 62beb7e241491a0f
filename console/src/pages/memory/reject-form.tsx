import { X } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { classNames } from '../../components/class-names.ts'
import fieldStyles from '../../components/field.module.css'
import styles from './memory.module.css'

interface RejectFormProps {
  readonly isBusy: boolean
  readonly onReject: (reason: string) => void
  readonly onCancel: () => void
}

/** A no with a reason, which is kept with the candidate: Enter sends it, Escape takes it back. */
export function RejectForm({ isBusy, onReject, onCancel }: RejectFormProps) {
  const [reason, setReason] = useState('')
  return (
    <form
      className={classNames(styles.buttons, styles.grow)}
      onSubmit={(event) => {
        event.preventDefault()
        onReject(reason.trim())
      }}
    >
      <input
        // biome-ignore lint/a11y/noAutofocus: it appears because somebody pressed “Reject”, and is what they want next.
        autoFocus
        aria-label="Reason for the rejection"
        placeholder="Reason, which is kept with it (optional)"
        className={classNames(fieldStyles.control, styles.grow)}
        maxLength={2_000}
        value={reason}
        onChange={({ target }) => setReason(target.value)}
        onKeyDown={({ key }) => key === 'Escape' && onCancel()}
      />
      <Button type="submit" variant="danger" icon={X} isBusy={isBusy}>
        Reject
      </Button>
      <Button variant="quiet" onClick={onCancel}>
        Cancel
      </Button>
    </form>
  )
}
