import { useState } from 'react'
import { FilterBar } from '../../components/filter-bar.tsx'
import { FilterSelect } from '../../components/filter-select.tsx'
import { Page } from '../../components/page.tsx'
import { useSearchParam } from '../../router/router.ts'
import { RunList } from './run-list.tsx'

/** The runs, newest first. */
export default function RunsPage() {
  const [caller, setCaller] = useSearchParam('caller')
  // The service has no list of callers: those that were seen on this page can be chosen.
  const [callers, setCallers] = useState<readonly string[]>([])
  const [summary, setSummary] = useState('')
  const options = [...new Set([...callers, ...(caller === '' ? [] : [caller])])].sort()
  const onLoaded = (found: readonly string[], words: string) => {
    setSummary(words)
    if (found.some((name) => !callers.includes(name))) setCallers([...new Set([...callers, ...found])])
  }
  return (
    <Page title="Runs" description="Everything one agent did in one go: a session, a task, a job." fill>
      <FilterBar summary={summary}>
        <FilterSelect
          label="Caller"
          value={caller}
          options={[['', 'Every caller'], ...options.map((name) => [name, name] as const)]}
          onChange={setCaller}
        />
      </FilterBar>
      <RunList key={caller} caller={caller} onLoaded={onLoaded} onClear={() => setCaller('')} />
    </Page>
  )
}
