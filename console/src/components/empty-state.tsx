import { Inbox, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import styles from './state.module.css'

interface EmptyStateProps {
  readonly icon?: LucideIcon
  readonly title: string
  /** What to do next; a command in `<code>` or a link is welcome. */
  readonly children: ReactNode
  readonly action?: ReactNode
}

/** Nothing to show: says why, and what to do next. */
export function EmptyState({ icon: Icon = Inbox, title, children, action }: EmptyStateProps) {
  return (
    <div className={styles.state}>
      <Icon size={24} strokeWidth={1.5} aria-hidden="true" className={styles.icon} />
      <h2>{title}</h2>
      <div className={styles.words}>{children}</div>
      {action}
    </div>
  )
}
