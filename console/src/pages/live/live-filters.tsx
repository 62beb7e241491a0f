import { X } from 'lucide-react'
import { CALL_STATUSES } from '../../calls/call-statuses.ts'
import { Button } from '../../components/button.tsx'
import { FilterBar } from '../../components/filter-bar.tsx'
import { FilterSelect } from '../../components/filter-select.tsx'
import { SearchField } from '../../components/search-field.tsx'
import type { CallFilter } from './call-filter.ts'
import styles from './live-filters.module.css'
import { useSeenNames } from './use-seen-names.ts'

interface LiveFiltersProps {
  readonly filter: CallFilter
  readonly onChange: (name: keyof CallFilter, value: string) => void
  readonly onClear: () => void
}

/** Which calls are shown: by text, tool, caller and status. */
export function LiveFilters({ filter, onChange, onClear }: LiveFiltersProps) {
  const { tools, callers } = useSeenNames()
  const { text, tool, caller, status } = filter
  return (
    <FilterBar>
      <SearchField label="Search calls" value={text} onChange={(next) => onChange('text', next)} />
      <div className={styles.choices}>
        <FilterSelect
          label="Status"
          value={status}
          options={CALL_STATUSES}
          onChange={(next) => onChange('status', next)}
        />
        <FilterSelect
          label="Tool"
          value={tool}
          options={optionsOf('Any tool', tools, tool)}
          onChange={(next) => onChange('tool', next)}
        />
        <FilterSelect
          label="Caller"
          value={caller}
          options={optionsOf('Any caller', callers, caller)}
          onChange={(next) => onChange('caller', next)}
        />
      </div>
      {Object.values(filter).some((value) => value !== '') && (
        <Button variant="quiet" icon={X} onClick={onClear}>
          Clear filters
        </Button>
      )}
    </FilterBar>
  )
}

// The chosen one stays to be seen, also when nobody of that name has called for long.
function optionsOf(all: string, names: readonly string[], chosen: string): (readonly [string, string])[] {
  const known = chosen === '' || names.includes(chosen) ? names : [chosen, ...names]
  return [['', all], ...known.map((name) => [name, name] as const)]
}
