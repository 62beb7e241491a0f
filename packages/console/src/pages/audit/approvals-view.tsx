import { Check, Inbox } from 'lucide-react'
import { useMemo } from 'react'
import { api } from '../../api/session.ts'
import type { Approval } from '../../api/types.ts'
import { useResource } from '../../api/use-resource.ts'
import { runPath } from '../../calls/call.ts'
import { Badge, StatusBadge } from '../../components/badge.tsx'
import { FilterBar, FilterSelect, SearchField } from '../../components/filters.tsx'
import { ResourceTable } from '../../components/resource.tsx'
import { EmptyState } from '../../components/states.tsx'
import type { Column } from '../../components/table.tsx'
import { VisibleText } from '../../components/text.tsx'
import { Duration, Time } from '../../components/time.tsx'
import { navigate, useSearchParam } from '../../router/router.ts'
import styles from './audit.module.css'

const OUTCOMES = [
  ['', 'Every outcome'],
  ['allowed', 'Allowed'],
  ['denied', 'Denied'],
  ['waiting', 'Waiting'],
  ['expired', 'Expired'],
  ['withdrawn', 'Withdrawn'],
] as const
const MAX_APPROVALS = 500

/** Who allowed or denied which call, when and how. */
export function ApprovalsView() {
  const [text, setText] = useSearchParam('text')
  const [outcome, setOutcome] = useSearchParam('outcome')
  const query = useResource(['approvals', 'all'], () => api.approvals.list({ state: 'all', limit: MAX_APPROVALS }), {
    refreshOn: ['approval'],
  })
  const rows = useMemo(
    () =>
      (query.data ?? []).filter((each) => (outcome === '' || outcomeOf(each) === outcome) && matchesText(each, text)),
    [query.data, outcome, text],
  )
  const isFull = query.data?.length === MAX_APPROVALS
  return (
    <div className={styles.view}>
      <FilterBar
        summary={
          query.data && `${rows.length} of ${isFull ? `the latest ${MAX_APPROVALS}` : query.data.length} approvals`
        }
      >
        <SearchField label="Search approvals" value={text} onChange={setText} />
        <FilterSelect label="Outcome" value={outcome} options={OUTCOMES} onChange={setOutcome} />
      </FilterBar>
      <ResourceTable
        query={query}
        label="Approvals"
        rows={rows}
        columns={APPROVAL_COLUMNS}
        rowKey={({ id }) => id}
        onOpen={({ run, callId }) => navigate(runPath(run, callId))}
        empty={
          <EmptyState icon={Inbox} title={query.data?.length === 0 ? 'No approvals yet' : 'No approval matches'}>
            {query.data?.length === 0
              ? 'Rules that require approval make calls wait for a person; the answers are listed here.'
              : 'Change or clear the filter.'}
          </EmptyState>
        }
      />
    </div>
  )
}

function matchesText({ tool, caller, targets, answered, reason }: Approval, wanted: string): boolean {
  const words = [tool, caller, reason, answered?.by, answered?.via, ...targets].join(' ')
  return words.toLowerCase().includes(wanted.toLowerCase())
}

/** The columns of the list of approvals. */
const APPROVAL_COLUMNS: readonly Column<Approval>[] = [
  {
    id: 'outcome',
    title: 'Outcome',
    width: '112px',
    narrow: 'side',
    cell: (approval) => {
      const outcome = outcomeOf(approval)
      if (outcome !== 'allowed') return <StatusBadge status={outcome} />
      return (
        <Badge tone="ok" icon={Check}>
          allowed
        </Badge>
      )
    },
  },
  {
    id: 'tool',
    title: 'Tool',
    width: 'minmax(140px, 1fr)',
    narrow: 'title',
    cell: ({ tool }) => <VisibleText text={tool} />,
  },
  {
    id: 'targets',
    title: 'On',
    width: 'minmax(160px, 2fr)',
    narrow: 'plain',
    cell: ({ targets, reason }) => <VisibleText text={targets.length > 0 ? targets.join(', ') : reason} />,
  },
  {
    id: 'caller',
    title: 'Requested by',
    width: 'minmax(96px, 128px)',
    cell: ({ caller }) => <VisibleText text={caller} />,
  },
  {
    id: 'by',
    title: 'Answered by',
    width: 'minmax(96px, 128px)',
    cell: ({ answered }) => <VisibleText text={answered?.by ?? 'nobody'} />,
  },
  { id: 'via', title: 'Via', width: '88px', cell: ({ answered }) => <VisibleText text={answered?.via ?? '–'} /> },
  {
    id: 'asked',
    title: 'Requested',
    width: '112px',
    align: 'end',
    narrow: 'meta',
    cell: ({ askedAt }) => <Time at={askedAt} />,
  },
  {
    id: 'waited',
    title: 'Waited',
    width: '96px',
    align: 'end',
    narrow: 'hidden',
    cell: ({ askedAt, answered }) => (
      <Duration ms={answered && Math.max(0, Date.parse(answered.at) - Date.parse(askedAt))} />
    ),
  },
]

/** The outcome of an approval. */
type Outcome = 'allowed' | 'denied' | 'answered' | 'waiting' | 'expired' | 'withdrawn'

/** The outcome of an approval; `answered` if the decision is not known. */
function outcomeOf({ state, answered }: Pick<Approval, 'state' | 'answered'>): Outcome {
  if (state !== 'answered') return state
  if (answered?.decision === 'allow') return 'allowed'
  return answered?.decision === 'deny' ? 'denied' : 'answered'
}
