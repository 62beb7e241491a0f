import { Note } from '../../components/note.tsx'
import { Time } from '../../components/time.tsx'
import styles from './audit.module.css'
import type { Verification } from './verification.ts'
import { WhatToDo } from './what-to-do.tsx'

/** How far the check is, then what it found, in a sentence. */
export function VerifyVerdict({ verification: { state, total, runs, finishedAt } }: { verification: Verification }) {
  const broken = runs.filter(({ state }) => state === 'broken').length
  const unproven = runs.filter(({ state }) => state === 'unproven').length
  const remarks = runs.filter(({ ok, remarks }) => ok && remarks.length > 0).length
  const lines = runs.reduce((sum, run) => sum + run.lines, 0)
  const counts = `${runs.length.toLocaleString('en')} of ${total.toLocaleString('en')} runs, ${lines.toLocaleString('en')} lines`
  return (
    <>
      {state === 'running' && (
        <div className={styles.progress}>
          <progress aria-label="Records checked" value={total === 0 ? undefined : runs.length} max={total || 1} />
          <span role="status">{total === 0 ? 'Looking for runs …' : `Checked ${counts}`}</span>
        </div>
      )}
      {broken > 0 && (
        <Note
          tone="bad"
          isLive
          title={`${broken.toLocaleString('en')} of ${runs.length.toLocaleString('en')} records are damaged`}
        >
          <WhatToDo />
        </Note>
      )}
      {unproven > 0 && (
        <Note tone="warn" isLive title={`The end of ${unproven.toLocaleString('en')} records is not proven`}>
          <p>
            They were not closed, or the store does not know their last line: a crash leaves them so, and so does
            whoever removes their end. Start the service again to close what a crash left open.
          </p>
        </Note>
      )}
      {state === 'done' && broken + unproven === 0 && total > 0 && (
        <Note tone="ok" isLive title={total === 1 ? 'The record is intact' : 'All records are intact'}>
          <p>
            {counts}, checked {finishedAt !== undefined && <Time at={finishedAt} />}.
            {remarks > 0 && ` ${remarks.toLocaleString('en')} with remarks: what a crash leaves, no sign of a change.`}
          </p>
        </Note>
      )}
      {state === 'done' && total === 0 && (
        <Note tone="info" title="There are no runs to check">
          <p>
            A run begins with an agent’s first call. Are there records of earlier ones?{' '}
            <code>tool-hub runs reindex</code> brings them back.
          </p>
        </Note>
      )}
      {state === 'stopped' && <Note tone="warn" isLive title={`Stopped: ${counts} were checked, the rest was not`} />}
    </>
  )
}
