import { classNames } from '../../components/class-names.ts'
import fieldStyles from '../../components/field.module.css'
import { FilterBar } from '../../components/filter-bar.tsx'
import { FilterSelect } from '../../components/filter-select.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { TIME_SPANS } from '../../components/time-span.ts'
import styles from './runs-page.module.css'
import type { RunSearch } from './use-run-search.ts'

const SPANS = [...TIME_SPANS, ['between', 'Between two days']] as const

interface RunFiltersProps {
  readonly search: RunSearch
  /** Who can be chosen. */
  readonly callers: readonly string[]
  readonly summary: string
}

/** By what runs are found. */
export function RunFilters({ search, callers, summary }: RunFiltersProps) {
  return (
    <FilterBar summary={summary}>
      <SearchField label="Search runs" value={search.text} onChange={search.setText} />
      <FilterSelect
        label="Caller"
        value={search.caller}
        options={[['', 'Every caller'], ...callers.map((name) => [name, name] as const)]}
        onChange={search.setCaller}
      />
      <FilterSelect label="Time" value={search.within} options={SPANS} onChange={search.setWithin} />
      {search.isBetween && (
        <>
          <DateField label="From" value={search.from} onChange={search.setFrom} />
          <DateField label="To" value={search.to} onChange={search.setTo} />
        </>
      )}
    </FilterBar>
  )
}

interface DateFieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
}

function DateField({ label, value, onChange }: DateFieldProps) {
  return (
    <label className={styles.date}>
      {label}{' '}
      <input
        type="date"
        className={classNames(fieldStyles.control, styles.dateInput)}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  )
}
