import { ScrollText, ShieldCheck, Square } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/api.ts'
import { useQuery } from '../../api/use-query.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { ErrorState } from '../../components/error-state.tsx'
import { SuggestInput } from '../../components/suggest-input.tsx'
import { useShortcut } from '../../keyboard/use-shortcut.ts'
import { useSearchParam } from '../../router/router.ts'
import { useValue } from '../../state/create-value.ts'
import styles from './audit.module.css'
import { lastCheck } from './last-check.ts'
import { LastCheckNote } from './last-check-note.tsx'
import { startVerification, stopVerification, verification } from './verification.ts'
import { VerifiedRuns } from './verified-runs.tsx'
import { VerifyVerdict } from './verify-verdict.tsx'

/** Checks that no line of a record was changed, removed or moved. */
export function VerifyView() {
  const current = useValue(verification)
  const last = useValue(lastCheck)
  const [run, setRun] = useSearchParam('run')
  const [checked, setChecked] = useState<string>()
  const runs = useQuery('runs to verify', () => api.runs.list({ limit: 200 }))
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
        <EmptyState icon={ScrollText} title="Nothing was checked yet">
          Verify reads the records line by line, and says which of them were changed, cut or lost since they were
          written.
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
