import type { ToolResult } from '../../../api/types.ts'
import { VisibleText } from '../../../components/visible-text.tsx'
import styles from './result-view.module.css'

/** What can be checked afterwards. */
export function EvidenceList({ evidence }: { evidence: ToolResult['evidence'] }) {
  return (
    <ul className={styles.evidence} aria-label="Evidence">
      {evidence.map(({ type, ref, summary }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same may be said twice, and the order never changes.
        <li key={index}>
          {type}{' '}
          <code>
            <VisibleText text={ref} />
          </code>{' '}
          <span className={styles.summary}>
            <VisibleText text={summary} />
          </span>
        </li>
      ))}
    </ul>
  )
}
