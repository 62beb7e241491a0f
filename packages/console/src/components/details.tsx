import { ChevronRight } from 'lucide-react'
import { type ReactNode, useId } from 'react'
import styles from './details.module.css'
import { VisibleText } from './text.tsx'

/** Names and values; absent values are left out. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  const known = facts.filter(([, value]) => value !== undefined && value !== null && value !== '' && value !== false)
  return (
    <dl className={styles.facts}>
      {known.map(([name, value]) => (
        <div key={name} className={styles.fact}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

interface DetailPartProps {
  readonly title: string
  readonly isClosed?: boolean
  readonly children: ReactNode
}

/** A titled part of a detail view that can be collapsed. */
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

/** Several texts, one per line. */
export function TextLines({ lines, label, isCode }: { lines: readonly string[]; label?: string; isCode?: boolean }) {
  return (
    <ul className={styles.lines} aria-label={label}>
      {lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same may be said twice, and the order never changes.
        <li key={index}>{isCode ? <CodeText text={line} /> : <VisibleText text={line} />}</li>
      ))}
    </ul>
  )
}

function CodeText({ text }: { text: string }) {
  return (
    <code>
      <VisibleText text={text} />
    </code>
  )
}
