import { useState } from 'react'
import { api } from '../../api/api.ts'
import { useQuery } from '../../api/use-query.ts'
import { Page } from '../../components/page.tsx'
import { RunFilters } from './run-filters.tsx'
import { RunList } from './run-list.tsx'
import { useRunSearch } from './use-run-search.ts'

/** The runs, newest first. */
export default function RunsPage() {
  const search = useRunSearch()
  const { caller, wish } = search
  const { data: principals = [] } = useQuery('principals', () => api.principals.list())
  const names = principals.filter(({ runs }) => runs > 0).map(({ name }) => name)
  const [summary, setSummary] = useState('')
  const callers = [...new Set([...names, ...(caller === '' ? [] : [caller])])].sort()
  return (
    <Page title="Runs" description="Everything one agent did in one go: a session, a task, a job." fill>
      <RunFilters search={search} callers={callers} summary={summary} />
      <RunList key={JSON.stringify(wish)} search={search} onLoaded={setSummary} />
    </Page>
  )
}
