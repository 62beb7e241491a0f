import { Download, RotateCw, Search, UserCheck } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { api } from '../../api/session.ts'
import type { CallEntry } from '../../api/types.ts'
import { useResource } from '../../api/use-resource.ts'
import { CALL_STATUSES, toneOfCall } from '../../calls/call.ts'
import { CALL_COLUMNS } from '../../calls/call-columns.tsx'
import { CallDrawer } from '../../calls/call-drawer.tsx'
import { saveFile } from '../../components/artifact-list.tsx'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { SuggestInput } from '../../components/field.tsx'
import { FilterBar, FilterSelect, SearchField } from '../../components/filters.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { VisibleText } from '../../components/text.tsx'
import { showFailure, showToast } from '../../components/toast.tsx'
import { TIME_SPANS } from '../../lib/format.ts'
import { useShortcut } from '../../lib/shortcuts.ts'
import { useSearchParam } from '../../router/router.ts'
import styles from './audit.module.css'
import { type CallSearchState, useCallPages, useCallSearch } from './call-search.ts'
import { collectCalls } from './collect-calls.ts'

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

/** All recorded calls, with filters by tool, caller, status and time. */
export function CallsView() {
  const search = useCallSearch()
  const [opened, setOpened] = useSearchParam('call')
  const pages = useCallPages(search.query)
  const rows = useMemo(
    () => (search.isApproved ? pages.calls.filter(({ approvedBy }) => approvedBy !== undefined) : pages.calls),
    [pages.calls, search.isApproved],
  )
  useShortcut('u', 'Search again', pages.restart)
  const count = `${rows.length.toLocaleString('en')}${pages.isComplete ? '' : '+'} calls`
  const summary = search.isApproved ? `${count} of ${pages.calls.length.toLocaleString('en')} searched` : count
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
            Search older calls
          </Button>
        </div>
      )}
      <CallDrawer callId={opened || undefined} onClose={() => setOpened('')} pathTo={pathTo} />
    </div>
  )
}

/** The address of a call within the search. */
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
    <EmptyState icon={Search} title="No call matches" action={<Button onClick={onClear}>Clear the filters</Button>}>
      {isComplete
        ? 'Change a filter, or clear them all.'
        : 'No match among the newest calls; search older calls, or change a filter.'}
    </EmptyState>
  )
}

interface CallFiltersProps {
  readonly search: CallSearchState
  /** The calls that were found; their callers are suggested. */
  readonly calls: readonly CallEntry[]
  readonly summary: ReactNode
}

const APPROVALS = [
  ['', 'Approved or not'],
  ['yes', 'Approved by a person'],
] as const

/** The filters of the search. */
function CallFilters({ search, calls, summary }: CallFiltersProps) {
  const tools = useResource(['tools'], () => api.tools({ hidden: true }))
  const callers = [...new Set(calls.map(({ caller }) => caller))]
  return (
    <FilterBar summary={summary}>
      <SearchField label="Search calls" value={search.text} onChange={search.setText} />
      <SuggestInput
        aria-label="Tool"
        placeholder="Every tool"
        className={styles.input}
        value={search.tool}
        onChange={search.setTool}
        suggestions={(tools.data ?? []).map(({ tool }) => ({ value: tool }))}
      />
      <SuggestInput
        aria-label="Caller"
        placeholder="Every caller"
        className={styles.input}
        value={search.caller}
        onChange={search.setCaller}
        suggestions={callers.map((value) => ({ value }))}
      />
      <FilterSelect label="Status" value={search.status} options={CALL_STATUSES} onChange={search.setStatus} />
      <FilterSelect label="Time" value={search.span} options={TIME_SPANS} onChange={search.setSpan} />
      <FilterSelect label="Approval" value={search.approved} options={APPROVALS} onChange={search.setApproved} />
      <ExportCalls search={search} />
    </FilterBar>
  )
}

/** Exports all calls that match the filters as JSON lines, not only those that are loaded. */
function ExportCalls({ search }: { search: CallSearchState }) {
  const [isBusy, setBusy] = useState(false)
  // The current values of the fields: the list is debounced.
  const { text, tool, caller, status, isApproved } = search
  const { withinMs } = search.query
  const save = async () => {
    setBusy(true)
    try {
      const filter = { text: text || undefined, tool: tool || undefined, caller: caller || undefined }
      const { calls, isCut } = await collectCalls(
        (page) => api.calls.list({ ...filter, status: status || undefined, ...page }),
        {
          since: withinMs === 0 ? 0 : Date.now() - withinMs,
          fits: ({ approvedBy }: CallEntry) => !isApproved || approvedBy !== undefined,
        },
      )
      saveFile('calls.jsonl', new TextEncoder().encode(calls.map((call) => `${JSON.stringify(call)}\n`).join('')))
      const count = `${calls.length.toLocaleString('en')} ${calls.length === 1 ? 'call' : 'calls'}`
      const about = isCut ? 'Only the newest calls were exported. Select a shorter time span for the rest.' : undefined
      showToast({ title: `Exported ${count}`, description: about, tone: isCut ? 'warn' : 'ok' })
    } catch (error) {
      showFailure('Not exported', error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button icon={Download} isBusy={isBusy} title="The matching calls as JSON lines" onClick={save}>
      Export
    </Button>
  )
}
