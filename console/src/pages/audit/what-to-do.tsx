import styles from './audit.module.css'

/** What helps when a record is not what was written. */
export function WhatToDo() {
  return (
    <ol className={styles.list}>
      <li>Change nothing: copy the folder of the run away first, as it is evidence.</li>
      <li>
        Look at the problems of the run: up to the first line that is named its record holds, what follows proves
        nothing.
      </li>
      <li>Compare with a backup, and find out who could write to the data folder; nothing but the service should.</li>
      <li>
        Check again on the machine itself: <code>tool-hub audit verify</code>. Revoke tokens that you cannot account
        for.
      </li>
    </ol>
  )
}
