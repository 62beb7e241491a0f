import { Activity } from 'lucide-react'
import { api } from '../../api/api.ts'
import { useQuery } from '../../api/use-query.ts'
import { CALL_COLUMNS } from '../../components/call-columns.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { FilterBar } from '../../components/filter-bar.tsx'
import { FilterSelect } from '../../components/filter-select.tsx'
import { isFailure } from '../../components/is-failure.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Page } from '../../components/page.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { Table } from '../../components/table.tsx'
import { navigate, useSearchParam } from '../../router/router.ts'

const STATUSES = [
  ['', 'Every status'],
  ['running', 'Running'],
  ['ok', 'Ok'],
  ['failed', 'Failed'],
  ['denied', 'Denied'],
] as const

/** Calls as they happen. */
export default function LivePage() {
  const [text, setText] = useSearchParam('text')
  const [status, setStatus] = useSearchParam('status')
  const query = useQuery(
    `calls ${status} ${text}`,
    () => api.calls.list({ text: text || undefined, status: status || undefined, limit: 200 }),
    {
      refreshOn: ['call'],
    },
  )
  return (
    <Page title="Live" fill>
      <FilterBar summary={query.data && `${query.data.calls.length} calls`}>
        <SearchField label="Search calls" value={text} onChange={setText} />
        <FilterSelect label="Status" value={status} options={STATUSES} onChange={setStatus} />
      </FilterBar>
      <Loaded query={query}>
        {({ calls }) => (
          <Table
            label="Calls"
            rows={calls}
            columns={CALL_COLUMNS}
            rowKey={(call) => call.callId}
            tone={(call) => (isFailure(call.status) ? 'bad' : undefined)}
            onOpen={(call) => navigate(`/runs/${encodeURIComponent(call.run)}/${encodeURIComponent(call.callId)}`)}
            empty={
              <EmptyState icon={Activity} title="No calls">
                {text === '' && status === '' ? (
                  <>
                    Connect an agent to <code>/mcp</code> on this address, or try a tool on the Tools page.
                  </>
                ) : (
                  'Nothing fits the filter; change or clear it.'
                )}
              </EmptyState>
            }
          />
        )}
      </Loaded>
    </Page>
  )
}
