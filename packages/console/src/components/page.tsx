import { Tabs as Base } from '@base-ui/react/tabs'
import { type ReactNode, useEffect, useId } from 'react'
import { classNames } from '../lib/class-names.ts'
import { createValue } from '../lib/watched-value.ts'
import styles from './page.module.css'

/** The frame of a page. */
export interface PageProps {
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

/** The title of the current page. The shell adds it to the title of the document. */
export const pageTitle = createValue('')

/** A titled block of a page on its own surface. */
export function Section({ title, actions, children }: { title: string; actions?: ReactNode; children: ReactNode }) {
  const id = useId()
  return (
    <section className={styles.section} aria-labelledby={id}>
      <header className={styles.sectionHeader}>
        <h2 id={id}>{title}</h2>
        {actions}
      </header>
      <div className={styles.sectionBody}>{children}</div>
    </section>
  )
}

/** One view among several. */
export interface Tab {
  readonly id: string
  readonly title: ReactNode
  readonly content: ReactNode
}

interface TabsProps {
  readonly label: string
  readonly tabs: readonly Tab[]
  /** The shown tab. Without it, the component keeps the state itself and starts with the first tab. */
  readonly selected?: string
  readonly onSelect?: (id: string) => void
  /** The panel fills the rest of the page, and scrolls inside. */
  readonly fill?: boolean
}

/** Several views, one shown at a time; the arrow keys switch between them. */
export function Tabs({ label, tabs, selected, onSelect, fill = false }: TabsProps) {
  return (
    <Base.Root
      className={classNames(styles.tabs, fill && styles.fillTabs)}
      defaultValue={selected === undefined ? tabs[0]?.id : undefined}
      value={selected}
      onValueChange={(id: string) => onSelect?.(id)}
    >
      <Base.List className={styles.tabList} aria-label={label}>
        {tabs.map(({ id, title }) => (
          <Base.Tab key={id} value={id} className={styles.tab}>
            {title}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map(({ id, content }) => (
        <Base.Panel key={id} value={id} className={styles.panel}>
          {content}
        </Base.Panel>
      ))}
    </Base.Root>
  )
}
