import { type ReactNode, useState } from 'react'
import { useCalm } from '../keyboard/use-calm.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { showFailure } from './show-failure.ts'

interface ConfirmDialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly title: ReactNode
  /** What it does, as the button says it: `Revoke`. */
  readonly action: string
  /** The toast's title when it fails. */
  readonly failure: string
  readonly onConfirm: () => Promise<void>
  /** What happens then. */
  readonly children: ReactNode
}

/** Asks before something that cannot be taken back; closes when it is done, stays when it failed. */
export function ConfirmDialog({ isOpen, onClose, title, action, failure, onConfirm, children }: ConfirmDialogProps) {
  const [isBusy, setBusy] = useState(false)
  const calm = useCalm(String(isOpen))
  const confirm = async () => {
    setBusy(true)
    try {
      await onConfirm()
      onClose()
    } catch (error) {
      showFailure(failure, error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={title}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="danger" isBusy={isBusy} calm={calm} onClick={confirm}>
            {action}
          </Button>
        </>
      }
    >
      {children}
    </Dialog>
  )
}
