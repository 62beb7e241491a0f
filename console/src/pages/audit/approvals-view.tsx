import { Inbox } from 'lucide-react'
import { useMemo } from 'react'
import { api } from '../../api/api.ts'
import type { Approval } from '../../api/types.ts'
import { useQuery } from '../../api/use-query.ts'
import { runPath } from '../../calls/run-path.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { FilterBar } from '../../components/filter-bar.tsx'
import { FilterSelect } from '../../components/filter-select.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { Table } from '../../components/table.tsx'
import { navigate, useSearchParam } from '../../router/router.ts'
import { APPROVAL_COLUMNS } from './approval-columns.tsx'
import styles from './audit.module.css'
import { outcomeOf } from './outcome-of.ts'

const OUTCOMES = [
  ['', 'Every outcome'],
  ['allowed', 'Allowed'],
  ['denied', 'Denied'],
  ['waiting', 'Waiting'],
  ['expired', 'Expired'],
  ['withdrawn', 'Withdrawn'],
] as const
const MOST = 500

/** Who allowed or denied what, when and which way. */
export function ApprovalsView() {
  const [text, setText] = useSearchParam('text')
  const [outcome, setOutcome] = useSearchParam('outcome')
  const query = useQuery('approvals all', () => api.approvals.list({ state: 'all', limit: MOST }), {
    refreshOn: ['approval'],
  })
  const rows = useMemo(
    () => (query.data ?? []).filter((each) => (outcome === '' || outcomeOf(each) === outcome) && says(each, text)),
    [query.data, outcome, text],
  )
  const isFull = query.data?.length === MOST
  return (
    <div className={styles.view}>
      <FilterBar
        summary={query.data && `${rows.length} of ${isFull ? `the latest ${MOST}` : query.data.length} approvals`}
      >
        <SearchField label="Search approvals" value={text} onChange={setText} />
        <FilterSelect label="Outcome" value={outcome} options={OUTCOMES} onChange={setOutcome} />
      </FilterBar>
      <Loaded query={query}>
        {(all) => (
          <Table
            label="Approvals"
            rows={rows}
            columns={APPROVAL_COLUMNS}
            rowKey={({ id }) => id}
            onOpen={({ run, callId }) => navigate(runPath(run, callId))}
            empty={
              <EmptyState icon={Inbox} title={all.length === 0 ? 'Nobody was asked yet' : 'No approval fits'}>
                {all.length === 0
                  ? 'A rule with ask makes calls wait for a person; who answered what is listed here.'
                  : 'Change or clear the filter.'}
              </EmptyState>
            }
          />
        )}
      </Loaded>
    </div>
  )
}

function says({ tool, caller, targets, answered, reason }: Approval, wanted: string): boolean {
  const words = [tool, caller, reason, answered?.by, answered?.via, ...targets].join(' ')
  return words.toLowerCase().includes(wanted.toLowerCase())
}
