import { Dialog as Base } from '@base-ui/react/dialog'
import { type LucideIcon, X } from 'lucide-react'
import { type ComponentProps, type ReactNode, useId, useRef, useState } from 'react'
import { useAction } from '../api/use-resource.ts'
import { type Calm, useCalm } from '../lib/calm.ts'
import { classNames } from '../lib/class-names.ts'
import iconStyles from './button.module.css'
import { Button } from './button.tsx'
import styles from './dialog.module.css'
import { ErrorNote } from './note.tsx'

interface DialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly title: ReactNode
  readonly description?: ReactNode
  /** Buttons at the bottom; the main one last. */
  readonly footer?: ReactNode
  /** `dialog` in the center, `drawer` at the right edge with the page still visible. */
  readonly placement?: 'dialog' | 'drawer'
  readonly isWide?: boolean
  /** The keys of the page stay active while it is open, for details that have keys of their own. */
  readonly keepsShortcuts?: boolean
  readonly children: ReactNode
}

/** A dialog over the page. Escape and a click outside close it. */
export function Dialog({
  isOpen,
  onClose,
  title,
  description,
  footer,
  placement = 'dialog',
  isWide = false,
  keepsShortcuts = false,
  children,
}: DialogProps) {
  const popup = useRef<HTMLDivElement>(null)
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={styles.backdrop} />
        <Base.Popup
          ref={popup}
          className={classNames(styles.popup, styles[placement], isWide && styles.wide)}
          // Not the first button, which is “Close”.
          initialFocus={popup}
          data-shortcuts={keepsShortcuts || undefined}
        >
          <header className={styles.header}>
            <div className={styles.heading}>
              <Base.Title className={styles.title}>{title}</Base.Title>
              {description !== undefined && (
                <Base.Description className={styles.description}>{description}</Base.Description>
              )}
            </div>
            <Base.Close className={iconStyles.iconButton} aria-label="Close">
              <X size={16} aria-hidden="true" />
            </Base.Close>
          </header>
          <div className={styles.body}>{children}</div>
          {footer !== undefined && <footer className={styles.footer}>{footer}</footer>}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}

/** Details at the right edge of the page; the full width on a phone. */
export function Drawer(props: Omit<ComponentProps<typeof Dialog>, 'placement'>) {
  return <Dialog placement="drawer" {...props} />
}

interface ConfirmButtonProps {
  readonly label: string
  readonly icon?: LucideIcon
  readonly variant?: 'primary' | 'secondary' | 'danger'
  readonly size?: 'normal' | 'small'
  /** The name of the button if its label does not say what it acts on. */
  readonly 'aria-label'?: string
  /** The question. */
  readonly title: string
  /** The answer that confirms it. Default: the label. */
  readonly action?: string
  /** The title of the toast after a failure. */
  readonly failure: string
  readonly onConfirm: () => Promise<void>
  /** What happens then. */
  readonly children: ReactNode
}

/** A button that asks for confirmation in a dialog. The dialog stays open after a failure. */
export function ConfirmButton({
  label,
  title,
  action = label,
  failure,
  onConfirm,
  children,
  ...button
}: ConfirmButtonProps) {
  const [isOpen, setOpen] = useState(false)
  const calm = useCalm(String(isOpen))
  const close = () => setOpen(false)
  const confirm = useAction(
    async () => {
      await onConfirm()
      close()
    },
    { failure },
  )
  return (
    <>
      <Button {...button} onClick={() => setOpen(true)}>
        {label}
      </Button>
      <Dialog
        isOpen={isOpen}
        onClose={close}
        title={title}
        footer={
          <>
            <Button onClick={close}>Cancel</Button>
            <Button variant="danger" isBusy={confirm.isBusy} calm={calm} onClick={() => void confirm.run()}>
              {action}
            </Button>
          </>
        }
      >
        {children}
      </Dialog>
    </>
  )
}

interface FormDialogProps extends Omit<DialogProps, 'isOpen' | 'footer'> {
  readonly submit: string
  readonly icon?: LucideIcon
  readonly isBusy: boolean
  readonly isDisabled?: boolean
  readonly calm: Calm
  /** Why it was not accepted. */
  readonly error: Error | undefined
  readonly onSubmit: () => void
}

/** A form in a dialog. */
export function FormDialog(props: FormDialogProps) {
  const { submit, icon, isBusy, isDisabled, calm, error, onSubmit, onClose, children, ...dialog } = props
  const id = useId()
  return (
    <Dialog
      {...dialog}
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            form={id}
            variant="primary"
            icon={icon}
            isBusy={isBusy}
            disabled={isDisabled}
            calm={calm}
          >
            {submit}
          </Button>
        </>
      }
    >
      <form
        id={id}
        className={styles.form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          onSubmit()
        }}
      >
        {error && <ErrorNote error={error} />}
        {children}
      </form>
    </Dialog>
  )
}
