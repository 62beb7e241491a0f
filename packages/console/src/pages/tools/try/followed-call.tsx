import { CircleStop, Hourglass } from 'lucide-react'
import { Link } from 'wouter'
import { useMe } from '../../../api/session.ts'
import { StatusBadge } from '../../../components/badge.tsx'
import { Button } from '../../../components/button.tsx'
import { Note } from '../../../components/note.tsx'
import { Section } from '../../../components/page.tsx'
import { ErrorState } from '../../../components/states.tsx'
import { Code, VisibleText } from '../../../components/text.tsx'
import { Time } from '../../../components/time.tsx'
import { useCalm } from '../../../lib/calm.ts'
import { useScrollIntoView } from '../../../lib/hooks.ts'
import { useShortcut } from '../../../lib/shortcuts.ts'
import type { CallState, Waiting } from './call-state.ts'
import { ResultView } from './result-view.tsx'
import styles from './try.module.css'

interface FollowedCallProps {
  readonly tool: string
  readonly run: string
  readonly state: CallState
  readonly onCancel: () => void
  readonly onForget: () => void
}

/** A call while it is running, and its result. */
export function FollowedCall({ tool, run, state, onCancel, onForget }: FollowedCallProps) {
  const { phase, callId, waiting, notes, progress, result, error } = state
  useShortcut('x', 'Cancel the call', onCancel, { when: phase === 'running' })
  // It replaces the button Cancel at the same place.
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
          <Note tone="quiet" title="You cancelled the call">
            The tool was asked to stop. What it did before stays; the run shows how it ended, and what can be undone.
          </Note>
        )}
        {error && <ErrorState error={error} />}
        {result && <ResultView tool={tool} run={run} result={result} progress={progress} />}
      </Section>
    </div>
  )
}

function statusOf({ phase, waiting, result }: CallState): string {
  if (phase === 'running') return waiting ? 'waiting' : 'running'
  if (phase === 'cancelled') return 'aborted'
  return result?.status ?? 'error'
}

/** What a call waits for, and who can answer. */
function WaitingNote({ waiting }: { waiting: Waiting }) {
  const { principal } = useMe()
  if (waiting.kind === 'other')
    return (
      <Note isLive tone="warn" icon={Hourglass} title="It is waiting for somebody else">
        <VisibleText text={waiting.message} />
      </Note>
    )
  if (waiting.kind === 'question')
    return (
      <Note isLive tone="warn" icon={Hourglass} title={<VisibleText text={`It asks: ${waiting.question}`} />}>
        <p>
          You can answer <Link to="/approvals">on the Approvals page</Link> in another tab; leaving this page cancels
          the call. The question expires <Time at={waiting.expiresAt} />.
        </p>
      </Note>
    )
  return (
    <Note isLive tone="warn" icon={Hourglass} title="It is waiting for approval">
      <p>
        <VisibleText text={waiting.reason} />
      </p>
      <p>
        You are <VisibleText text={principal.name} />, and you cannot approve your own call. Somebody else has to; the
        request expires <Time at={waiting.expiresAt} />:
      </p>
      <ul>
        <li>
          in the console, signed in with another token that has the scope approve:{' '}
          <code>{approvalAddress(waiting.id)}</code>
        </li>
        <li>
          on this machine: <code>tool-hub approvals --watch</code>
        </li>
        <li>by the link that a webhook sends, if one is configured</li>
      </ul>
      <p>Leave this tab open: the call continues automatically, even while you view other pages.</p>
    </Note>
  )
}

function approvalAddress(id: string): string {
  return `${window.location.origin}/approvals/${encodeURIComponent(id)}`
}
