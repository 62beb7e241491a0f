import { Dialog as Base } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import { type ReactNode, useRef } from 'react'
import { classNames } from './class-names.ts'
import styles from './dialog.module.css'
import iconStyles from './icon-button.module.css'

interface DialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly title: ReactNode
  readonly description?: ReactNode
  /** Buttons at the bottom; the one that does it last. */
  readonly footer?: ReactNode
  /** `dialog` in the middle, `drawer` at the right side with the page still in sight. */
  readonly placement?: 'dialog' | 'drawer'
  readonly isWide?: boolean
  /** The page's keys hold on while it is open: for details that are answered by keys. */
  readonly keepsShortcuts?: boolean
  readonly children: ReactNode
}

/** A question or a form over the page; Escape and a press beside it close it. */
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
          // The first button would be “Close”, which nobody opens a dialog for.
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
            <Base.Close className={iconStyles.button} aria-label="Close">
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
