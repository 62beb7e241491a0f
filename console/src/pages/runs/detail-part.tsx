import { ChevronRight } from 'lucide-react'
import type { ReactNode } from 'react'
import styles from './detail-part.module.css'

/** A titled part of a call's details; it can be closed, and may begin so. */
export function DetailPart({
  title,
  isClosed = false,
  children,
}: {
  title: string
  isClosed?: boolean
  children: ReactNode
}) {
  return (
    <details className={styles.part} open={!isClosed}>
      <summary className={styles.title}>
        <ChevronRight size={14} aria-hidden="true" className={styles.chevron} />
        <h3>{title}</h3>
      </summary>
      <div className={styles.body}>{children}</div>
    </details>
  )
}
