import styles from './key-hint.module.css'

/** A key, or keys after each other, as they are on the keyboard; decoration, as the words beside it say it all. */
export function KeyHint({ keys }: { keys: string }) {
  return (
    <span className={styles.keys} aria-hidden="true">
      {keys.split(' ').map((key, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same key may come twice, and the order never changes.
        <kbd key={index} className={styles.key}>
          {key}
        </kbd>
      ))}
    </span>
  )
}
