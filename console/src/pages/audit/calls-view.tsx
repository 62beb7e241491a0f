import { RotateCw, Search, UserCheck } from 'lucide-react'
import { useMemo } from 'react'
import type { CallEntry } from '../../api/types.ts'
import { CALL_COLUMNS } from '../../calls/call-columns.tsx'
import { CallDrawer } from '../../calls/call-drawer.tsx'
import { toneOfCall } from '../../calls/tone-of-call.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { ErrorState } from '../../components/error-state.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { useShortcut } from '../../keyboard/use-shortcut.ts'
import { useSearchParam } from '../../router/router.ts'
import styles from './audit.module.css'
import { CallFilters } from './call-filters.tsx'
import { useCallPages } from './use-call-pages.ts'
import { useCallSearch } from './use-call-search.ts'

const APPROVED: Column<CallEntry> = {
  id: 'approved',
  title: 'Approved by',
  width: 'minmax(96px, 140px)',
  narrow: 'meta',
  cell: ({ approvedBy }) =>
    approvedBy !== undefined && (
      <Badge tone="ok" icon={UserCheck}>
        <span className="visually-hidden">approved by </span>
        <VisibleText text={approvedBy} />
      </Badge>
    ),
}
const COLUMNS = CALL_COLUMNS.filter(({ id }) => id !== 'run').toSpliced(4, 0, APPROVED)

/** Every call on record, by what it was, whose, how it ended and when. */
export function CallsView() {
  const search = useCallSearch()
  const [opened, setOpened] = useSearchParam('call')
  const pages = useCallPages(search.asked)
  const rows = useMemo(
    () => (search.isApproved ? pages.calls.filter(({ approvedBy }) => approvedBy !== undefined) : pages.calls),
    [pages.calls, search.isApproved],
  )
  useShortcut('u', 'Search again', pages.restart)
  const count = `${rows.length.toLocaleString('en')}${pages.isComplete ? '' : '+'} calls`
  const summary = search.isApproved ? `${count} of ${pages.calls.length.toLocaleString('en')} looked at` : count
  return (
    <div className={styles.view}>
      <CallFilters search={search} calls={pages.calls} summary={pages.isLoading ? 'Searching …' : summary} />
      {pages.error && <ErrorState error={pages.error} onRetry={pages.restart} />}
      {!pages.error && pages.isLoading && pages.calls.length === 0 && <Skeleton />}
      {!pages.error && !(pages.isLoading && pages.calls.length === 0) && (
        <Table
          label="Calls on record"
          rows={rows}
          columns={COLUMNS}
          rowKey={({ callId }) => callId}
          tone={toneOfCall}
          selected={opened}
          onOpen={({ callId }) => setOpened(callId)}
          onActive={({ callId }) => opened !== '' && setOpened(callId)}
          onEnd={pages.more}
          empty={<NoCalls isFiltered={search.isFiltered} isComplete={pages.isComplete} onClear={search.clear} />}
        />
      )}
      {!pages.isComplete && !pages.error && (
        <div className={styles.row}>
          <Button size="small" icon={RotateCw} isBusy={pages.isLoading} onClick={pages.more}>
            Look at older calls
          </Button>
        </div>
      )}
      <CallDrawer callId={opened || undefined} onClose={() => setOpened('')} pathTo={pathTo} />
    </div>
  )
}

/** The address of a call in the same search. */
function pathTo(callId: string): string {
  const query = new URLSearchParams(window.location.search)
  query.set('call', callId)
  return `/audit?${query}`
}

function NoCalls({
  isFiltered,
  isComplete,
  onClear,
}: {
  isFiltered: boolean
  isComplete: boolean
  onClear: () => void
}) {
  if (!isFiltered)
    return (
      <EmptyState icon={Search} title="No calls on record">
        Connect an agent to <code>/mcp</code> on this address, or try a tool on the Tools page.
      </EmptyState>
    )
  return (
    <EmptyState icon={Search} title="No call fits" action={<Button onClick={onClear}>Clear the filters</Button>}>
      {isComplete
        ? 'Change a filter, or clear them all.'
        : 'None among the newest; look at older calls, or change a filter.'}
    </EmptyState>
  )
}
