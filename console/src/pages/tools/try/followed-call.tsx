import { CircleStop } from 'lucide-react'
import { Button } from '../../../components/button.tsx'
import { Code } from '../../../components/code.tsx'
import { ErrorState } from '../../../components/error-state.tsx'
import { Note } from '../../../components/note.tsx'
import { Section } from '../../../components/section.tsx'
import { StatusBadge } from '../../../components/status-badge.tsx'
import { VisibleText } from '../../../components/visible-text.tsx'
import { useCalm } from '../../../keyboard/use-calm.ts'
import { useShortcut } from '../../../keyboard/use-shortcut.ts'
import { Link } from '../../../router/link.tsx'
import type { CallState } from './call-state.ts'
import styles from './followed-call.module.css'
import { ResultView } from './result-view.tsx'
import { useScrollIntoView } from './use-scroll-into-view.ts'
import { WaitingNote } from './waiting-note.tsx'

interface FollowedCallProps {
  readonly run: string
  readonly state: CallState
  readonly onCancel: () => void
  readonly onForget: () => void
}

/** A call while it is under way, and what it gave. */
export function FollowedCall({ run, state, onCancel, onForget }: FollowedCallProps) {
  const { phase, callId, waiting, notes, progress, result, error } = state
  useShortcut('x', 'Cancel the call', onCancel, { when: phase === 'running' })
  // It stands where Cancel was.
  const calm = useCalm(phase)
  const place = useScrollIntoView<HTMLDivElement>(phase === 'idle' ? undefined : `${phase} ${waiting?.kind}`)
  if (phase === 'idle') return null
  const status = statusOf(state)
  return (
    <div ref={place}>
      <Section
        title="The call"
        actions={
          phase === 'running' ? (
            <Button size="small" variant="danger" icon={CircleStop} shortcut="x" onClick={onCancel}>
              Cancel
            </Button>
          ) : (
            <Button size="small" variant="quiet" calm={calm} onClick={onForget}>
              Clear
            </Button>
          )
        }
      >
        <div role="status" className={styles.status}>
          <StatusBadge status={status} />
          {callId !== undefined && <Link to={`/runs/${run}/${encodeURIComponent(callId)}`}>{callId}</Link>}
        </div>
        {waiting && <WaitingNote waiting={waiting} />}
        {notes.map((words, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same may be said twice, and the order never changes.
          <p key={index}>
            <VisibleText text={words} />
          </p>
        ))}
        {progress !== '' && phase !== 'ended' && <Code text={progress} label="Progress" />}
        {phase === 'cancelled' && (
          <Note tone="quiet" title="You have cancelled it">
            The tool was told to stop. What it had done until then stays; the run says how it ended, and what can be
            undone.
          </Note>
        )}
        {error && <ErrorState error={error} />}
        {result && <ResultView run={run} result={result} progress={progress} />}
      </Section>
    </div>
  )
}

function statusOf({ phase, waiting, result }: CallState): string {
  if (phase === 'running') return waiting ? 'waiting' : 'running'
  if (phase === 'cancelled') return 'aborted'
  return result?.status ?? 'error'
}
