import type { LucideIcon } from 'lucide-react'
import { type ReactNode, useEffect, useRef } from 'react'
import { Link } from '../router/link.tsx'
import { classNames } from './class-names.ts'
import styles from './split-list.module.css'

interface SplitListProps {
  readonly label: string
  readonly selected: string | undefined
  /** Its `SplitRow`s, and what comes after them. */
  readonly children: ReactNode
}

/** The rows to choose from; the chosen one stays in sight. */
export function SplitList({ label, selected, children }: SplitListProps) {
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => {
    if (selected !== undefined) list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
  }, [selected])
  return (
    <ul ref={list} className={styles.list} aria-label={label}>
      {children}
    </ul>
  )
}

interface SplitRowProps {
  readonly to: string
  readonly isSelected: boolean
  readonly icon: LucideIcon
  readonly title: ReactNode
  readonly side: ReactNode
  /** One line of what it is about. */
  readonly preview: ReactNode
  readonly meta: ReactNode
  /** Nobody has looked at it yet. */
  readonly isNew?: boolean
  /** A link of its own below the row, such as the one to its run. */
  readonly below?: ReactNode
}

/** One of them: what, about what, who and since when. */
export function SplitRow(props: SplitRowProps) {
  const { to, isSelected, icon: Icon, title, side, preview, meta, isNew = false, below } = props
  return (
    <li className={styles.item}>
      <Link
        to={to}
        className={classNames(styles.row, isNew && styles.new)}
        aria-current={isSelected ? 'true' : undefined}
      >
        <Icon size={16} aria-hidden="true" className={styles.icon} />
        <span className={styles.title}>{title}</span>
        <span className={styles.side}>{side}</span>
        <span className={styles.preview}>{preview}</span>
        <span className={styles.meta}>{meta}</span>
      </Link>
      {below !== undefined && <div className={styles.below}>{below}</div>}
    </li>
  )
}
