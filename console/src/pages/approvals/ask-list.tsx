import { useEffect, useRef } from 'react'
import type { Ask } from './ask.ts'
import styles from './ask-list.module.css'
import { AskRow } from './ask-row.tsx'

/** The asks to choose from; the chosen one stays in sight. */
export function AskList({ asks, selected, tab }: { asks: readonly Ask[]; selected: string | undefined; tab: string }) {
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => {
    if (selected !== undefined) list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
  }, [selected])
  return (
    <ul ref={list} className={styles.list} aria-label={tab === '' ? 'Waiting' : 'Answered'}>
      {asks.map((ask) => (
        <AskRow key={ask.id} ask={ask} isSelected={ask.id === selected} tab={tab} />
      ))}
    </ul>
  )
}
