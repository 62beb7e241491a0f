import { VisibleText } from '../../components/visible-text.tsx'
import styles from './change-list.module.css'
import type { JsonChange } from './list-changes.ts'

/** What was changed in the arguments: before and after, each with its sign. */
export function ChangeList({ changes }: { changes: readonly JsonChange[] }) {
  if (changes.length === 0) return <p className={styles.none}>Nothing is changed yet.</p>
  return (
    <ul className={styles.changes} aria-label="Your changes">
      {changes.map(({ path, before, after }) => (
        <li key={path}>
          <code className={styles.path}>
            <VisibleText text={path === '' ? 'the whole' : path} />
          </code>
          {before !== undefined && (
            <del className={styles.before}>
              <VisibleText text={write(before)} />
            </del>
          )}
          {after === undefined ? (
            <span className={styles.none}>not given any more</span>
          ) : (
            <ins className={styles.after}>
              <VisibleText text={write(after)} />
            </ins>
          )}
        </li>
      ))}
    </ul>
  )
}

function write(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
