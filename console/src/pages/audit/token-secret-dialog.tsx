import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Code } from '../../components/code.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Note } from '../../components/note.tsx'
import { useCalm } from '../../keyboard/use-calm.ts'
import styles from './audit.module.css'

/** A token that was just made, with the secret that is shown once. */
export interface NewSecret {
  readonly name: string
  readonly secret: string
}

/** Shows a secret for the only time; a stray Escape or press beside it does not lose it. */
export function TokenSecretDialog({ secret, onClose }: { secret: NewSecret | undefined; onClose: () => void }) {
  const [isWarned, setWarned] = useState(false)
  // It stands where the button that made the token was.
  const calm = useCalm(secret?.secret ?? '')
  const close = () => {
    setWarned(false)
    onClose()
  }
  return (
    <Dialog
      isOpen={secret !== undefined}
      onClose={() => (isWarned ? close() : setWarned(true))}
      title={`Secret of ${secret?.name ?? ''}`}
      description="Copy it now: only its hash is kept, and it is not shown again."
      footer={
        <Button variant="primary" calm={calm} onClick={close}>
          I have copied it
        </Button>
      }
    >
      {isWarned && (
        <Note tone="warn" title="Have you copied it? Close once more to go on without." isLive>
          <p>A secret that is lost cannot be found again: revoke the token and make another.</p>
        </Note>
      )}
      {secret && <Code text={secret.secret} label="Secret" />}
      <p className={styles.muted}>
        Agents send it as <code>Authorization: Bearer SECRET</code>; people paste it on the sign-in page.
      </p>
    </Dialog>
  )
}
