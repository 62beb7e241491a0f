import { Inbox } from 'lucide-react'
import { api } from '../../api/api.ts'
import type { Approval } from '../../api/types.ts'
import { useQuery } from '../../api/use-query.ts'
import { CommandView } from '../../components/command-view.tsx'
import { DiffView } from '../../components/diff-view.tsx'
import { Drawer } from '../../components/drawer.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { JsonView } from '../../components/json-view.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Page } from '../../components/page.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { navigate } from '../../router/router.ts'
import type { PageProps } from '../../router/routes.tsx'

const COLUMNS: readonly Column<Approval>[] = [
  { id: 'state', title: 'State', width: '120px', narrow: 'side', cell: ({ state }) => <StatusBadge status={state} /> },
  {
    id: 'tool',
    title: 'Tool',
    width: 'minmax(160px, 1fr)',
    narrow: 'title',
    cell: ({ tool }) => <VisibleText text={tool} />,
  },
  { id: 'reason', title: 'Why', width: 'minmax(160px, 2fr)', cell: ({ reason }) => <VisibleText text={reason} /> },
  { id: 'caller', title: 'Who asks', width: '160px', cell: ({ caller }) => <VisibleText text={caller} /> },
  { id: 'asked', title: 'Asked', width: '112px', align: 'end', cell: ({ askedAt }) => <Time at={askedAt} /> },
  { id: 'expires', title: 'Expires', width: '112px', align: 'end', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
]

/** What waits for a yes or a no. */
export default function ApprovalsPage({ params }: PageProps) {
  const query = useQuery('approvals waiting', () => api.approvals.list(), { refreshOn: ['approval'] })
  const shown = query.data?.find(({ id }) => id === params.id)
  return (
    <Page title="Approvals" fill>
      <Loaded query={query}>
        {(approvals) => (
          <Table
            label="Approvals"
            rows={approvals}
            columns={COLUMNS}
            rowKey={({ id }) => id}
            selected={params.id}
            onOpen={({ id }) => navigate(`/approvals/${encodeURIComponent(id)}`)}
            empty={
              <EmptyState icon={Inbox} title="Nothing waits for you">
                Calls that a rule wants a person to see appear here; leave the page open, the tab counts them.
              </EmptyState>
            }
          />
        )}
      </Loaded>
      <Drawer isOpen={shown !== undefined} onClose={() => navigate('/approvals')} title={shown?.tool} isWide>
        {shown && <Details approval={shown} />}
      </Drawer>
    </Page>
  )
}

function Details({ approval }: { approval: Approval }) {
  return (
    <>
      {approval.views.map((view) => {
        if (view.kind === 'command') return <CommandView key={view.command} {...view} />
        if (view.kind === 'diff') return <DiffView key={view.path} {...view} />
        return (
          <p key={view.url}>
            <VisibleText text={`${view.url} (${view.addresses.join(', ')})`} />
          </p>
        )
      })}
      <JsonView value={approval.input} label="input" />
    </>
  )
}
