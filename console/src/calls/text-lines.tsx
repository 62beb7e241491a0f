import { VisibleText } from '../components/visible-text.tsx'
import styles from './text-lines.module.css'

/** Several texts as the value of a fact, a line each. */
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
