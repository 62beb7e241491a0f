import styles from './skeleton.module.css'

/** Grey lines where content will be; shows only after a moment, as most answers are faster. */
export function Skeleton({ lines = 6 }: { lines?: number }) {
  return (
    <div className={styles.skeleton} role="status">
      <span className="visually-hidden">Loading</span>
      {Array.from({ length: lines }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same.
        <div key={index} className={styles.line} />
      ))}
    </div>
  )
}
