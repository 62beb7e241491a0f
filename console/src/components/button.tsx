import type { LucideIcon } from 'lucide-react'
import type { ButtonHTMLAttributes, Ref } from 'react'
import styles from './button.module.css'
import { classNames } from './class-names.ts'
import { KeyHint } from './key-hint.tsx'

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** `primary` once a view, `danger` for what cannot be taken back, `quiet` without a border. */
  readonly variant?: 'primary' | 'secondary' | 'danger' | 'quiet'
  readonly size?: 'normal' | 'small'
  readonly icon?: LucideIcon
  /** The key that does the same, shown behind the words. */
  readonly shortcut?: string
  /** Shows that it works on it, and takes no second press. */
  readonly isBusy?: boolean
  readonly ref?: Ref<HTMLButtonElement>
}

/** A button with words. */
export function Button({
  variant = 'secondary',
  size = 'normal',
  icon: Icon,
  shortcut,
  isBusy = false,
  disabled,
  className,
  children,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      className={classNames(styles.button, styles[variant], styles[size], className)}
      disabled={disabled || isBusy}
      aria-busy={isBusy || undefined}
      {...rest}
    >
      {isBusy && <span className={styles.spinner} aria-hidden="true" />}
      {Icon && !isBusy && <Icon size={15} aria-hidden="true" />}
      {children}
      {shortcut !== undefined && <KeyHint keys={shortcut} />}
    </button>
  )
}
