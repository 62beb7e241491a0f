import { useState } from 'react'
import { Page } from '../../components/page.tsx'
import { RunFilters } from './run-filters.tsx'
import { RunList } from './run-list.tsx'
import { useRunSearch } from './use-run-search.ts'

/** The runs, newest first. */
export default function RunsPage() {
  const search = useRunSearch()
  const { caller, wish } = search
  // Those that were seen on this page can be chosen.
  const [callers, setCallers] = useState<readonly string[]>([])
  const [summary, setSummary] = useState('')
  const options = [...new Set([...callers, ...(caller === '' ? [] : [caller])])].sort()
  const onLoaded = (found: readonly string[], words: string) => {
    setSummary(words)
    if (found.some((name) => !callers.includes(name))) setCallers([...new Set([...callers, ...found])])
  }
  return (
    <Page title="Runs" description="Everything one agent did in one go: a session, a task, a job." fill>
      <RunFilters search={search} callers={options} summary={summary} />
      <RunList key={JSON.stringify(wish)} search={search} onLoaded={onLoaded} />
    </Page>
  )
}
