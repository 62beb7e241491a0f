import type { ReactNode } from 'react'
import { api } from '../../api/api.ts'
import type { CallEntry } from '../../api/types.ts'
import { useQuery } from '../../api/use-query.ts'
import { CALL_STATUSES } from '../../calls/call-statuses.ts'
import { FilterBar } from '../../components/filter-bar.tsx'
import { FilterSelect } from '../../components/filter-select.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { SuggestInput } from '../../components/suggest-input.tsx'
import { TIME_SPANS } from '../../components/time-span.ts'
import styles from './audit.module.css'
import { ExportCalls } from './export-calls.tsx'
import type { CallSearchState } from './use-call-search.ts'

interface CallFiltersProps {
  readonly search: CallSearchState
  /** Those found, whose callers are suggested. */
  readonly calls: readonly CallEntry[]
  readonly summary: ReactNode
}

const APPROVALS = [
  ['', 'Approved or not'],
  ['yes', 'Approved by somebody'],
] as const

/** By what calls are found. */
export function CallFilters({ search, calls, summary }: CallFiltersProps) {
  const tools = useQuery('tools', () => api.tools({ hidden: true }))
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
