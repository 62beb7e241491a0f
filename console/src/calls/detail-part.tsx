import { ChevronRight } from 'lucide-react'
import { type ReactNode, useId } from 'react'
import styles from './detail-part.module.css'

interface DetailPartProps {
  readonly title: string
  readonly isClosed?: boolean
  readonly children: ReactNode
}

/** A titled part of a call's details; it can be closed, and may begin so. */
export function DetailPart({ title, isClosed = false, children }: DetailPartProps) {
  const id = useId()
  return (
    <section aria-labelledby={id}>
      <details className={styles.part} open={!isClosed}>
        <summary className={styles.title}>
          <ChevronRight size={14} aria-hidden="true" className={styles.chevron} />
          <h3 id={id}>{title}</h3>
        </summary>
        <div className={styles.body}>{children}</div>
      </details>
    </section>
  )
}
