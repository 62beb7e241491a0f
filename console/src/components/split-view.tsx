import { ArrowLeft } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from '../router/link.tsx'
import { classNames } from './class-names.ts'
import styles from './split-view.module.css'

/** The width at which there is no room for list and detail beside each other; the CSS has the same. */
export const NARROW_SPLIT = '(max-width: 900px)'

/** A list with the chosen one beside it; on a narrow screen one of them. */
export function SplitView({ side, detail }: { side: ReactNode; detail: ReactNode }) {
  return (
    <div className={styles.view} data-opened={detail ? true : undefined}>
      <div className={styles.side}>{side}</div>
      {detail}
    </div>
  )
}

interface SplitDetailProps {
  readonly label: string
  /** The list alone, for a narrow screen. */
  readonly backTo: string
  readonly backWords: string
  readonly children: ReactNode
}

/** The chosen one: a `SplitBody`, and a `SplitBar` where something can be done. */
export function SplitDetail({ label, backTo, backWords, children }: SplitDetailProps) {
  return (
    <section className={styles.detail} aria-label={label}>
      <Link to={backTo} className={styles.back}>
        <ArrowLeft size={14} aria-hidden="true" /> {backWords}
      </Link>
      {children}
    </section>
  )
}

/** What there is to read; it scrolls. */
export function SplitBody({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keys.
    <section className={styles.scroller} tabIndex={0} aria-label={label}>
      {children}
    </section>
  )
}

/** What can be done with it; always in sight. */
export function SplitBar({ label, isRow = false, children }: { label: string; isRow?: boolean; children: ReactNode }) {
  return (
    <section className={classNames(styles.bar, isRow && styles.row)} aria-label={label}>
      {children}
    </section>
  )
}
