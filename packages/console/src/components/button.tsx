import { Tooltip as Base } from '@base-ui/react/tooltip'
import { Check, Copy, type LucideIcon } from 'lucide-react'
import {
  type ButtonHTMLAttributes,
  type KeyboardEvent,
  type MouseEvent,
  type ReactElement,
  type ReactNode,
  type Ref,
  useEffect,
  useState,
} from 'react'
import type { Calm } from '../lib/calm.ts'
import { classNames } from '../lib/class-names.ts'
import styles from './button.module.css'
import { showToast } from './toast.tsx'

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** `primary` at most once per view, `danger` for actions that cannot be undone, `quiet` without a border. */
  readonly variant?: 'primary' | 'secondary' | 'danger' | 'quiet'
  readonly size?: 'normal' | 'small'
  readonly icon?: LucideIcon
  /** The key that does the same, shown after the label. */
  readonly shortcut?: string
  /** Shows a spinner, and disables the button. */
  readonly isBusy?: boolean
  /** For a button with a side effect: ignores presses before the user could see what it acts on (`useCalm`). */
  readonly calm?: Calm
  readonly ref?: Ref<HTMLButtonElement>
}

/** A button with a label. */
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
  // A click that is ignored must not submit a form either; Enter in a field is a click on the button of its form.
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

// Holding Enter would press the button repeatedly.
function ignoreRepeat(event: KeyboardEvent): void {
  if (event.repeat && event.key === 'Enter') event.preventDefault()
}

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** The text of the tooltip and for screen readers. */
  readonly label: string
  readonly icon: LucideIcon
  readonly shortcut?: string
  readonly size?: 'normal' | 'small'
  readonly ref?: Ref<HTMLButtonElement>
}

/** A button with only an icon; its label is the tooltip. */
export function IconButton({ label, icon: Icon, shortcut, size = 'normal', className, ...rest }: IconButtonProps) {
  return (
    <Tooltip text={label} shortcut={shortcut}>
      <button
        type="button"
        aria-label={label}
        className={classNames(styles.iconButton, size === 'small' && styles.iconSmall, className)}
        {...rest}
      >
        <Icon size={size === 'small' ? 14 : 16} aria-hidden="true" />
      </button>
    </Tooltip>
  )
}

/** Copies a text to the clipboard, and shows that it did. */
export function CopyButton({ text, label = 'Copy' }: { text: string | (() => string); label?: string }) {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 1_500)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : text())
      setCopied(true)
    } catch {
      // Browsers allow the clipboard only on HTTPS and localhost.
      showToast({
        tone: 'bad',
        title: 'Not copied',
        description: 'The browser does not allow it here; select and copy the text instead.',
      })
    }
  }
  return <IconButton size="small" icon={isCopied ? Check : Copy} label={isCopied ? 'Copied' : label} onClick={copy} />
}

/** A key or a sequence of keys. Decoration: the text next to it says the same. */
export function KeyHint({ keys }: { keys: string }) {
  return (
    <span className={styles.keys} aria-hidden="true">
      {keys.split(' ').map((key, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same key may come twice, and the order never changes.
        <kbd key={index} className={styles.key}>
          {key}
        </kbd>
      ))}
    </span>
  )
}

/** A short text on hover and focus. Never the only place of necessary information. */
export function Tooltip({ text, shortcut, children }: { text: ReactNode; shortcut?: string; children: ReactElement }) {
  return (
    <Base.Root>
      <Base.Trigger render={children} delay={400} />
      <Base.Portal>
        <Base.Positioner sideOffset={6} className={styles.positioner}>
          <Base.Popup className={styles.tooltip}>
            {text}
            {shortcut !== undefined && <KeyHint keys={shortcut} />}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
