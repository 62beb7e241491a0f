import type { LucideIcon } from 'lucide-react'
import type { ButtonHTMLAttributes, KeyboardEvent, MouseEvent, Ref } from 'react'
import type { Calm } from '../keyboard/use-calm.ts'
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
  /** For a button with a side effect: it takes no press before what it acts on could be seen (`useCalm`). */
  readonly calm?: Calm
  readonly ref?: Ref<HTMLButtonElement>
}

/** A button with words. */
export function Button({
  variant = 'secondary',
  size = 'normal',
  icon: Icon,
  shortcut,
  isBusy = false,
  calm,
  disabled,
  className,
  children,
  onClick,
  ...rest
}: ButtonProps) {
  // A click that does not count submits no form either; Enter in a field of a form is a click on its button.
  const press = (event: MouseEvent<HTMLButtonElement>) => {
    if (calm && !calm.accepts(event)) event.preventDefault()
    else onClick?.(event)
  }
  return (
    <button
      type="button"
      className={classNames(styles.button, styles[variant], styles[size], className)}
      disabled={disabled || isBusy}
      aria-busy={isBusy || undefined}
      aria-disabled={(calm && !calm.isCalm) || undefined}
      onClick={press}
      onKeyDown={calm && ignoreRepeat}
      {...rest}
    >
      {isBusy && <span className={styles.spinner} aria-hidden="true" />}
      {Icon && !isBusy && <Icon size={15} aria-hidden="true" />}
      {children}
      {shortcut !== undefined && <KeyHint keys={shortcut} />}
    </button>
  )
}

// A held Enter presses a button again and again.
function ignoreRepeat(event: KeyboardEvent): void {
  if (event.repeat && event.key === 'Enter') event.preventDefault()
}
