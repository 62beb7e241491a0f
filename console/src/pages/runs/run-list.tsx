import { History } from 'lucide-react'
import { useEffect } from 'react'
import { runPath } from '../../calls/run-path.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Table } from '../../components/table.tsx'
import { navigate } from '../../router/router.ts'
import { RUN_COLUMNS } from './run-columns.tsx'
import { useRuns } from './use-runs.ts'

interface RunListProps {
  readonly caller: string
  /** Who has called, and how many runs are shown, in words. */
  readonly onLoaded: (callers: readonly string[], summary: string) => void
  readonly onClear: () => void
}

/** The runs of a caller, or of all; the next page comes when the end is near. */
export function RunList({ caller, onLoaded, onClear }: RunListProps) {
  const { query, runs, hasMore, loadMore } = useRuns(caller)
  useEffect(() => {
    if (query.data === undefined) return
    const count = `${runs.length.toLocaleString('en')}${hasMore ? '+' : ''}`
    onLoaded([...new Set(runs.map((run) => run.caller))], `${count} ${count === '1' ? 'run' : 'runs'}`)
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
          empty={caller === '' ? <NoRuns /> : <NoneOf caller={caller} onClear={onClear} />}
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

function NoneOf({ caller, onClear }: { caller: string; onClear: () => void }) {
  return (
    <EmptyState
      icon={History}
      title={`No runs of ${caller}`}
      action={<Button onClick={onClear}>Show every caller</Button>}
    >
      Choose another caller, or look at all of them.
    </EmptyState>
  )
}
