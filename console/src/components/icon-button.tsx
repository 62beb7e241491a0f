import type { LucideIcon } from 'lucide-react'
import type { ButtonHTMLAttributes, Ref } from 'react'
import { classNames } from './class-names.ts'
import styles from './icon-button.module.css'
import { Tooltip } from './tooltip.tsx'

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** Its name for everybody: the tooltip and what a screen reader says. */
  readonly label: string
  readonly icon: LucideIcon
  readonly shortcut?: string
  readonly size?: 'normal' | 'small'
  readonly ref?: Ref<HTMLButtonElement>
}

/** A button that is only an icon; its label is the tooltip. */
export function IconButton({ label, icon: Icon, shortcut, size = 'normal', className, ...rest }: IconButtonProps) {
  return (
    <Tooltip text={label} shortcut={shortcut}>
      <button type="button" aria-label={label} className={classNames(styles.button, styles[size], className)} {...rest}>
        <Icon size={size === 'small' ? 14 : 16} aria-hidden="true" />
      </button>
    </Tooltip>
  )
}
