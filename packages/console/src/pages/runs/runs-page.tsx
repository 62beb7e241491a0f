import { History, Hourglass, SearchX } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import { api } from '../../api/session.ts'
import type { RunEntry } from '../../api/types.ts'
import { useResource } from '../../api/use-resource.ts'
import { runPath } from '../../calls/call.ts'
import { useWaiting } from '../../calls/waiting.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import fieldStyles from '../../components/field.module.css'
import { FilterBar, FilterSelect, SearchField } from '../../components/filters.tsx'
import { Page } from '../../components/page.tsx'
import { ResourceTable } from '../../components/resource.tsx'
import { EmptyState } from '../../components/states.tsx'
import type { Column } from '../../components/table.tsx'
import { VisibleText } from '../../components/text.tsx'
import { Duration, Time } from '../../components/time.tsx'
import { classNames } from '../../lib/class-names.ts'
import { TIME_SPANS } from '../../lib/format.ts'
import { navigate } from '../../router/router.ts'
import styles from './runs.module.css'
import { type RunSearch, useRunSearch, useRuns } from './use-runs.ts'

/** The runs, newest first. */
export default function RunsPage() {
  const search = useRunSearch()
  const { caller, query } = search
  const { data: principals = [] } = useResource(['principals'], () => api.principals.list())
  const names = principals.filter(({ runs }) => runs > 0).map(({ name }) => name)
  const [summary, setSummary] = useState('')
  const callers = [...new Set([...names, ...(caller === '' ? [] : [caller])])].sort()
  return (
    <Page title="Runs" description="Everything that an agent did in a session, a task or a job." fill>
      <RunFilters search={search} callers={callers} summary={summary} />
      <RunList key={JSON.stringify(query)} search={search} onLoaded={setSummary} />
    </Page>
  )
}

interface RunListProps {
  readonly search: RunSearch
  /** Called with the number of runs, as text. */
  readonly onLoaded: (summary: string) => void
}

/** The runs that match the filters; the next page is loaded near the end of the list. */
function RunList({ search, onLoaded }: RunListProps) {
  const { query, items: runs, hasMore, loadMore } = useRuns(search.query)
  useEffect(() => {
    if (query.data === undefined) return
    const count = `${runs.length.toLocaleString('en')}${hasMore ? '+' : ''}`
    onLoaded(`${count} ${count === '1' ? 'run' : 'runs'}`)
  })
  return (
    <ResourceTable
      query={query}
      label="Runs"
      rows={runs}
      columns={RUN_COLUMNS}
      rowKey={({ run }) => run}
      onOpen={({ run }) => navigate(runPath(run))}
      onEnd={loadMore}
      tone={({ failures }) => (failures > 0 ? 'bad' : undefined)}
      empty={search.isFiltered ? <NoneSo onClear={search.clear} /> : <NoRuns />}
    />
  )
}

function NoRuns() {
  return (
    <EmptyState icon={History} title="No runs yet">
      A run starts with the first call of an agent: connect one to <code>/mcp</code> on this address, or try a tool on
      the Tools page. Records of earlier runs are restored with <code>tool-hub runs reindex</code>.
    </EmptyState>
  )
}

function NoneSo({ onClear }: { onClear: () => void }) {
  return (
    <EmptyState icon={SearchX} title="No run matches" action={<Button onClick={onClear}>Clear the filters</Button>}>
      The search covers ids, callers, goals of sessions, and the tools, targets and results of calls.
    </EmptyState>
  )
}

const SPANS = [...TIME_SPANS, ['between', 'Between two days']] as const

interface RunFiltersProps {
  readonly search: RunSearch
  /** The options of the filter. */
  readonly callers: readonly string[]
  readonly summary: string
}

/** The filters of the list of runs. */
function RunFilters({ search, callers, summary }: RunFiltersProps) {
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

/** How many calls of a run failed, were denied and wait for a person. */
function RunOutcome({ entry: { run, failures, denials } }: { entry: RunEntry }) {
  const waiting = useWaiting().filter((approval) => approval.run === run && approval.state === 'waiting').length
  const counts = [
    ['bad', failures, 'failed'],
    ['warn', denials, 'denied'],
    ['warn', waiting, 'waiting'],
  ] as const
  if (counts.every(([, count]) => count === 0)) return <Badge tone="ok">none failed</Badge>
  return (
    <span className={styles.lines}>
      {counts.map(
        ([tone, count, word]) =>
          count > 0 && (
            <Badge key={word} tone={tone} icon={word === 'waiting' ? Hourglass : undefined}>
              {count.toLocaleString('en')} {word}
            </Badge>
          ),
      )}
    </span>
  )
}

/** The columns of the list of runs. */
const RUN_COLUMNS: readonly Column<RunEntry>[] = [
  {
    id: 'run',
    title: 'Run',
    width: 'minmax(200px, 2fr)',
    narrow: 'title',
    wraps: true,
    cell: ({ run, label, goal }) => (
      <span className={styles.lines}>
        <Link to={runPath(run)} className={styles.run}>
          <VisibleText text={run} />
        </Link>
        {(label ?? goal) !== undefined && (
          <span className={styles.goal}>
            <VisibleText text={[label, goal].filter((words) => words !== undefined).join(': ')} />
          </span>
        )}
      </span>
    ),
  },
  {
    id: 'caller',
    title: 'Caller',
    width: 'minmax(120px, 1fr)',
    narrow: 'plain',
    wraps: true,
    cell: ({ caller, principal }) => (
      <span className={styles.lines}>
        <span>{caller === '' ? 'the service itself' : <VisibleText text={caller} />}</span>
        {principal !== undefined && principal !== caller && (
          <span className={styles.goal}>
            for <VisibleText text={principal} />
          </span>
        )}
      </span>
    ),
  },
  {
    id: 'failures',
    title: 'Outcome',
    width: '128px',
    narrow: 'side',
    wraps: true,
    cell: (entry) => <RunOutcome entry={entry} />,
  },
  {
    id: 'calls',
    title: 'Calls',
    width: '80px',
    align: 'end',
    narrow: 'meta',
    cell: ({ calls }) => (
      <span>
        {calls.toLocaleString('en')} <span className={styles.unit}>{calls === 1 ? 'call' : 'calls'}</span>
      </span>
    ),
  },
  {
    id: 'took',
    title: 'Took',
    width: '112px',
    align: 'end',
    narrow: 'meta',
    cell: ({ startedAt, endedAt }) => <Duration ms={endedAt - startedAt} />,
  },
  {
    id: 'started',
    title: 'Started',
    width: '160px',
    align: 'end',
    narrow: 'meta',
    cell: ({ startedAt }) => <Time at={startedAt} />,
  },
]
