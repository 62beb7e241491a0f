import { ScrollText, ShieldCheck, Square } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/session.ts'
import { useResource } from '../../api/use-resource.ts'
import { Button } from '../../components/button.tsx'
import { SuggestInput } from '../../components/field.tsx'
import { Note } from '../../components/note.tsx'
import { EmptyState, ErrorState } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { useShortcut } from '../../lib/shortcuts.ts'
import { useValue } from '../../lib/watched-value.ts'
import { useSearchParam } from '../../router/router.ts'
import styles from './audit.module.css'
import { type LastCheck, lastCheck } from './last-check.ts'
import { startVerification, stopVerification, type Verification, verification } from './verification.ts'
import { VerifiedRuns } from './verified-runs.tsx'

/** Verifies that no line of a record was changed, removed or moved. */
export function VerifyView() {
  const current = useValue(verification)
  const last = useValue(lastCheck)
  const [run, setRun] = useSearchParam('run')
  const [checked, setChecked] = useState<string>()
  const runs = useResource(['runs', 'to', 'verify'], () => api.runs.list({ limit: 200 }))
  const isRunning = current.state === 'running'
  const start = () => {
    const only = run.trim() === '' ? undefined : run.trim()
    setChecked(only)
    void startVerification(only)
  }
  useShortcut('x', 'Verify now', start, { when: !isRunning })
  return (
    <div className={styles.view}>
      <form
        className={styles.row}
        aria-label="Verify records"
        onSubmit={(event) => {
          event.preventDefault()
          start()
        }}
      >
        <SuggestInput
          aria-label="Run to verify; all when empty"
          placeholder="All runs"
          className={styles.input}
          value={run}
          onChange={setRun}
          suggestions={(runs.data?.runs ?? []).map((each) => ({ value: each.run, about: each.caller }))}
        />
        <Button type="submit" variant="primary" icon={ShieldCheck} isBusy={isRunning} shortcut="x">
          {run.trim() === '' ? 'Verify all runs' : 'Verify the run'}
        </Button>
        {isRunning && (
          <Button icon={Square} onClick={stopVerification}>
            Stop
          </Button>
        )}
        <span className={styles.muted}>Every line of a record is chained to the one before by its hash.</span>
      </form>
      {current.state === 'idle' && last && <LastCheckNote check={last} />}
      {current.state === 'idle' && !last && (
        <EmptyState icon={ScrollText} title="There was no check yet">
          Verification reads the records line by line, and reports which of them were changed, truncated or lost.
        </EmptyState>
      )}
      {current.state === 'failed' && current.error && (
        <ErrorState error={current.error} onRetry={() => void startVerification(checked)} />
      )}
      {current.state !== 'idle' && <VerifyVerdict verification={current} />}
      {current.runs.length > 0 && <VerifiedRuns runs={current.runs} />}
    </div>
  )
}

/** The last complete check in this browser. */
function LastCheckNote({ check: { at, runs, lines, broken, unproven } }: { check: LastCheck }) {
  const count = (number: number) => number.toLocaleString('en')
  const found =
    broken > 0
      ? `${count(broken)} of ${count(runs)} records were damaged`
      : unproven > 0
        ? `the end of ${count(unproven)} of ${count(runs)} records was not proven`
        : `all ${count(runs)} records were intact`
  return (
    <Note
      tone={broken > 0 ? 'bad' : unproven > 0 ? 'warn' : 'ok'}
      title={
        <>
          Last check, <Time at={at} />: {found}
        </>
      }
    >
      <p>{count(lines)} lines were checked, in this browser. Later lines are not covered: verify again.</p>
    </Note>
  )
}

/** The progress of the check, then its result. */
function VerifyVerdict({ verification: { state, total, runs, finishedAt } }: { verification: Verification }) {
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
            They were not closed, or the store does not know their last line. This happens after a crash, or if somebody
            removes their end. Restart the service to close records that a crash left open.
          </p>
        </Note>
      )}
      {state === 'done' && broken + unproven === 0 && total > 0 && (
        <Note tone="ok" isLive title={total === 1 ? 'The record is intact' : 'All records are intact'}>
          <p>
            {counts}, checked {finishedAt !== undefined && <Time at={finishedAt} />}.
            {remarks > 0 &&
              ` ${remarks.toLocaleString('en')} with remarks, such as after a crash; they are not a sign of a change.`}
          </p>
        </Note>
      )}
      {state === 'done' && total === 0 && (
        <Note tone="info" title="There are no runs to check">
          <p>
            A run starts with the first call of an agent. If there are records of earlier runs,{' '}
            <code>tool-hub runs reindex</code> restores them.
          </p>
        </Note>
      )}
      {state === 'stopped' && <Note tone="warn" isLive title={`Stopped: ${counts} were checked, the rest was not`} />}
    </>
  )
}

/** What to do about a damaged record. */
export function WhatToDo() {
  return (
    <ol className={styles.list}>
      <li>Do not change anything: copy the folder of the run first, as it is evidence.</li>
      <li>
        Check the problems of the run: its record is valid up to the first line that they name; the rest proves nothing.
      </li>
      <li>
        Compare with a backup, and find out who could write to the data folder; only the service should be able to.
      </li>
      <li>
        Check again on the machine itself: <code>tool-hub audit verify</code>. Revoke tokens that you do not recognize.
      </li>
    </ol>
  )
}
