import { Hourglass } from 'lucide-react'
import { api } from '../../api/api.ts'
import { useQuery } from '../../api/use-query.ts'
import { Note } from '../../components/note.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { Link } from '../../router/link.tsx'

const MOST = 3

/** The calls of a run that wait for a person; they are on record only when somebody has answered. */
export function WaitingNotes({ run }: { run: string }) {
  const { data = [] } = useQuery('approvals waiting', () => api.approvals.list(), { refreshOn: ['approval'] })
  const waiting = data.filter((approval) => approval.run === run && approval.state === 'waiting')
  if (waiting.length === 0) return null
  return (
    <>
      {waiting.slice(0, MOST).map(({ id, tool, reason, expiresAt }) => (
        <Note
          key={id}
          tone="warn"
          icon={Hourglass}
          title={
            <>
              <VisibleText text={tool} /> waits for an approval; the time to answer ends <Time at={expiresAt} />
            </>
          }
        >
          <p>
            <VisibleText text={reason} /> <Link to={`/approvals/${encodeURIComponent(id)}`}>Look at it</Link>
          </p>
        </Note>
      ))}
      {waiting.length > MOST && (
        <p>
          <Link to="/approvals">{waiting.length - MOST} more wait</Link>
        </p>
      )}
    </>
  )
}
