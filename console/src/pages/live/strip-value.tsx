import { TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { classNames } from '../../components/class-names.ts'
import styles from './live-strip.module.css'

interface StripValueProps {
  readonly name: string
  readonly value: string
  readonly note: string
  /** What one may have to know of it, on hover. */
  readonly about?: string
  readonly isBad?: boolean
  readonly children?: ReactNode
}

/** One number of the strip, with its line where it has one. */
export function StripValue({ name, value, note, about, isBad = false, children }: StripValueProps) {
  return (
    <div className={styles.item} title={about}>
      <dt className={styles.name}>{name}</dt>
      <dd className={styles.body}>
        <span className={classNames(styles.value, isBad && styles.bad)}>
          {isBad && <TriangleAlert size={14} aria-hidden="true" />}
          {value}
        </span>
        {children}
        <span className={styles.note}>{note}</span>
      </dd>
    </div>
  )
}
