import { Tabs as Base } from '@base-ui/react/tabs'
import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'
import styles from './tabs.module.css'

/** One view among several. */
export interface Tab {
  readonly id: string
  readonly title: ReactNode
  readonly content: ReactNode
}

interface TabsProps {
  readonly label: string
  readonly tabs: readonly Tab[]
  /** Which one is shown, and how to change it, to keep it in the address; else the first, kept here. */
  readonly selected?: string
  readonly onSelect?: (id: string) => void
  /** The shown one fills what is left of a page that fills the window, and scrolls inside. */
  readonly fill?: boolean
}

/** Several views of one thing, one shown at a time; arrows go between them. */
export function Tabs({ label, tabs, selected, onSelect, fill = false }: TabsProps) {
  return (
    <Base.Root
      className={classNames(styles.root, fill && styles.fill)}
      defaultValue={selected === undefined ? tabs[0]?.id : undefined}
      value={selected}
      onValueChange={(id: string) => onSelect?.(id)}
    >
      <Base.List className={styles.list} aria-label={label}>
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
