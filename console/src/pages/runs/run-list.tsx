import { History, SearchX } from 'lucide-react'
import { useEffect } from 'react'
import { runPath } from '../../calls/run-path.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Table } from '../../components/table.tsx'
import { navigate } from '../../router/router.ts'
import { RUN_COLUMNS } from './run-columns.tsx'
import type { RunSearch } from './use-run-search.ts'
import { useRuns } from './use-runs.ts'

interface RunListProps {
  readonly search: RunSearch
  /** How many runs are shown, in words. */
  readonly onLoaded: (summary: string) => void
}

/** The runs that fit the filters; the next page comes when the end is near. */
export function RunList({ search, onLoaded }: RunListProps) {
  const { query, items: runs, hasMore, loadMore } = useRuns(search.wish)
  useEffect(() => {
    if (query.data === undefined) return
    const count = `${runs.length.toLocaleString('en')}${hasMore ? '+' : ''}`
    onLoaded(`${count} ${count === '1' ? 'run' : 'runs'}`)
  })
  return (
    <Loaded query={query}>
      {() => (
        <Table
          label="Runs"
          rows={runs}
          columns={RUN_COLUMNS}
          rowKey={({ run }) => run}
          onOpen={({ run }) => navigate(runPath(run))}
          onEnd={loadMore}
          tone={({ failures }) => (failures > 0 ? 'bad' : undefined)}
          empty={search.isFiltered ? <NoneSo onClear={search.clear} /> : <NoRuns />}
        />
      )}
    </Loaded>
  )
}

function NoRuns() {
  return (
    <EmptyState icon={History} title="No runs yet">
      A run begins with an agent’s first call: connect one to <code>/mcp</code> on this address, or try a tool on the
      Tools page. Records of earlier runs come back with <code>tool-hub runs reindex</code>.
    </EmptyState>
  )
}

function NoneSo({ onClear }: { onClear: () => void }) {
  return (
    <EmptyState icon={SearchX} title="No run fits" action={<Button onClick={onClear}>Clear the filters</Button>}>
      The search looks at ids, callers, goals of sessions, and the tools, targets and results of calls.
    </EmptyState>
  )
}
