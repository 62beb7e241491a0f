import type { ReactNode } from 'react'
import styles from './filter-bar.module.css'

/** The row above a list: a `SearchField`, `FilterSelect`s, and at the end how many there are. */
export function FilterBar({ children, summary }: { children: ReactNode; summary?: ReactNode }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a form would send itself; `search` as an element is younger than our browsers.
    <div className={styles.bar} role="search">
      {children}
      {summary !== undefined && (
        <span className={styles.summary} aria-live="polite">
          {summary}
        </span>
      )}
    </div>
  )
}
