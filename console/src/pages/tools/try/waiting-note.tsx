import { Hourglass } from 'lucide-react'
import { useMe } from '../../../api/use-me.ts'
import { Note } from '../../../components/note.tsx'
import { Time } from '../../../components/time.tsx'
import { VisibleText } from '../../../components/visible-text.tsx'
import { Link } from '../../../router/link.tsx'
import type { Waiting } from './call-state.ts'

/** What a call waits for, and who can do something about it. */
export function WaitingNote({ waiting }: { waiting: Waiting }) {
  const { principal } = useMe()
  if (waiting.kind === 'other')
    return (
      <Note isLive tone="warn" icon={Hourglass} title="It waits for somebody else">
        <VisibleText text={waiting.message} />
      </Note>
    )
  if (waiting.kind === 'question')
    return (
      <Note isLive tone="warn" icon={Hourglass} title={<VisibleText text={`It asks: ${waiting.question}`} />}>
        <p>
          You can answer <Link to="/approvals">on the Approvals page</Link> in another tab; leaving this page cancels
          the call. It waits until <Time at={waiting.expiresAt} />.
        </p>
      </Note>
    )
  return (
    <Note isLive tone="warn" icon={Hourglass} title="It waits for an approval">
      <p>
        <VisibleText text={waiting.reason} />
      </p>
      <p>
        You are <VisibleText text={principal.name} />, and nobody approves their own call. Somebody else has to; the
        time to answer ends <Time at={waiting.expiresAt} />:
      </p>
      <ul>
        <li>
          in the console, signed in with another token that has the scope approve:{' '}
          <code>{approvalAddress(waiting.id)}</code>
        </li>
        <li>
          on this machine: <code>tool-hub approvals --watch</code>
        </li>
        <li>by the link that a webhook sends, where one is set up</li>
      </ul>
      <p>Leave this tab open: the call goes on by itself, also while you look at other pages.</p>
    </Note>
  )
}

function approvalAddress(id: string): string {
  return `${window.location.origin}/approvals/${encodeURIComponent(id)}`
}
