import { type ReactNode, useId } from 'react'
import styles from './ask-detail.module.css'

/** A titled part of what is asked. */
export function DetailBlock({ title, children }: { title: string; children: ReactNode }) {
  const id = useId()
  return (
    <section className={styles.block} aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      {children}
    </section>
  )
}
