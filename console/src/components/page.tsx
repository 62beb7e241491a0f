import { type ReactNode, useEffect } from 'react'
import { classNames } from './class-names.ts'
import styles from './page.module.css'
import { pageTitle } from './page-title.ts'

interface PageProps {
  readonly title: string
  /** One sentence below the title. */
  readonly description?: ReactNode
  /** Buttons at the right of the title. */
  readonly actions?: ReactNode
  /** The body fills the window and scrolls inside (tables); otherwise the page scrolls. */
  readonly fill?: boolean
  readonly children: ReactNode
}

/** The frame of every page: its title (also the document's), its buttons, its body. */
export function Page({ title, description, actions, fill = false, children }: PageProps) {
  useEffect(() => pageTitle.set(title), [title])
  return (
    <div className={classNames(styles.page, fill && styles.fill)}>
      <header className={styles.header}>
        <div className={styles.heading}>
          <h1 className={styles.title}>{title}</h1>
          {description !== undefined && <p className={styles.description}>{description}</p>}
        </div>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </header>
      <div className={styles.body}>{children}</div>
    </div>
  )
}
