import { type ReactNode, useId } from 'react'
import styles from './call-details.module.css'

/** A titled part of a call's details. */
export function DetailBlock({ title, children }: { title: string; children: ReactNode }) {
  const id = useId()
  return (
    <section className={styles.block} aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      {children}
    </section>
  )
}
