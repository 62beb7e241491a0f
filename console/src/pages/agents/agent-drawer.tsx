import { Square } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/api.ts'
import { refreshQueries } from '../../api/query-cache.ts'
import type { AgentStatus } from '../../api/types.ts'
import { useMe } from '../../api/use-me.ts'
import { useQuery } from '../../api/use-query.ts'
import { DetailPart } from '../../calls/detail-part.tsx'
import { Button } from '../../components/button.tsx'
import { Code } from '../../components/code.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Drawer } from '../../components/drawer.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Note } from '../../components/note.tsx'
import { showToast } from '../../components/show-toast.ts'
import { VisibleText } from '../../components/visible-text.tsx'
import { AgentChildren } from './agent-children.tsx'
import { AgentFacts } from './agent-facts.tsx'
import { AgentHistory } from './agent-history.tsx'
import { AgentLetter } from './agent-letter.tsx'

interface AgentDrawerProps {
  readonly id: string
  readonly onClose: () => void
}

/** One session: its task, what it has done, and ways to write to it and to end it. */
export function AgentDrawer({ id, onClose }: AgentDrawerProps) {
  const isAdmin = useMe().may('admin')
  const [isEnding, setEnding] = useState(false)
  const query = useQuery(`agents one ${id}`, () => api.agents.get(id), {
    refreshOn: ['ability-changed', 'call'],
    ability: 'sessions',
    run: id,
  })
  const session = query.data?.session
  const isRunning = session?.state === 'running'
  const end = async () => {
    const { ended } = await api.agents.end(id)
    refreshQueries('agents')
    if (!ended) showToast({ tone: 'info', title: 'It had already ended' })
  }
  return (
    <Drawer
      isOpen
      onClose={onClose}
      isWide
      keepsShortcuts={!isEnding}
      title={<VisibleText text={session?.label ?? id} />}
      footer={
        isAdmin && isRunning ? (
          <Button variant="danger" icon={Square} onClick={() => setEnding(true)}>
            End it
          </Button>
        ) : undefined
      }
    >
      <Loaded query={query}>{(status) => <Details status={status} mayWrite={isAdmin} />}</Loaded>
      <ConfirmDialog
        isOpen={isEnding}
        onClose={() => setEnding(false)}
        title="End this session?"
        action="End it"
        failure="Not ended"
        onConfirm={end}
      >
        <p>
          <strong>
            <VisibleText text={session?.label ?? id} />
          </strong>{' '}
          and all sessions that it began stop immediately. What they have done stays; they cannot continue.
        </p>
      </ConfirmDialog>
    </Drawer>
  )
}

function Details({ status, mayWrite }: { status: AgentStatus; mayWrite: boolean }) {
  const { session, children } = status
  const { id, task, result, reason } = session
  return (
    <>
      <AgentFacts status={status} />
      {reason !== undefined && (
        <Note tone={session.state === 'failed' ? 'bad' : 'info'} title={<VisibleText text={reason} />} />
      )}
      {task !== undefined && (
        <DetailPart title="Task">
          <Code text={task} label="Task" />
        </DetailPart>
      )}
      {result !== undefined && (
        <DetailPart title="Result">
          <Code text={result} label="Result" />
        </DetailPart>
      )}
      {children.length > 0 && (
        <DetailPart title={`Sessions it began (${children.length})`}>
          <AgentChildren agents={children} label="Sessions it began" />
        </DetailPart>
      )}
      <DetailPart title="History">
        <AgentHistory id={id} />
      </DetailPart>
      {mayWrite && session.state === 'running' && <AgentLetter id={id} />}
    </>
  )
}
