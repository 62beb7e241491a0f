import type { ScheduleEntry } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import type { Column } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { tellingArgument } from './describe-calls.ts'
import { NextTime } from './next-time.tsx'
import styles from './schedules.module.css'
import { WhenWords } from './when-words.tsx'

/** The columns of the list of schedules. */
export const SCHEDULE_COLUMNS: readonly Column<ScheduleEntry>[] = [
  {
    id: 'name',
    title: 'Name',
    width: 'minmax(112px, 1fr)',
    wraps: true,
    narrow: 'title',
    cell: ({ name }) => <VisibleText text={name} />,
  },
  {
    id: 'calls',
    title: 'Calls',
    width: 'minmax(160px, 2fr)',
    wraps: true,
    narrow: 'plain',
    cell: ({ calls }) => <CallWords calls={calls} />,
  },
  {
    id: 'when',
    title: 'When',
    width: 'minmax(144px, 1.6fr)',
    wraps: true,
    narrow: 'plain',
    cell: (schedule) => (
      <span>
        <WhenWords {...schedule} />
      </span>
    ),
  },
  {
    id: 'next',
    title: 'Next',
    width: 'minmax(96px, 144px)',
    wraps: true,
    cell: ({ nextAt, enabled, timeZone }) =>
      nextAt === undefined || !enabled ? '–' : <NextTime at={nextAt} timeZone={timeZone} />,
  },
  {
    id: 'last',
    title: 'Last',
    width: 'minmax(96px, 160px)',
    wraps: true,
    cell: ({ lastAt, lastStatus }) =>
      lastStatus === undefined ? (
        'never ran'
      ) : (
        <span className={styles.row}>
          <StatusBadge status={lastStatus} /> {lastAt !== undefined && <Time at={lastAt} />}
        </span>
      ),
  },
  {
    id: 'by',
    title: 'Made by',
    width: 'minmax(88px, 0.8fr)',
    wraps: true,
    cell: ({ createdBy, isFromConfig }) => <VisibleText text={isFromConfig ? 'the config' : createdBy.by} />,
  },
  {
    id: 'enabled',
    title: 'State',
    width: '64px',
    narrow: 'side',
    cell: ({ enabled }) => (enabled ? <Badge tone="ok">on</Badge> : <Badge>off</Badge>),
  },
]

/** The tool and the argument that says most; of several calls the first, and how many follow it. */
function CallWords({ calls: [first, ...others] }: { calls: ScheduleEntry['calls'] }) {
  if (first === undefined) return null
  const argument = tellingArgument(first.input)
  return (
    <span className={styles.called}>
      <span>
        <VisibleText text={first.tool} />
        {others.length > 0 && <span className={styles.muted}> and {others.length.toLocaleString('en')} more</span>}
      </span>
      {argument !== undefined && (
        <span className={styles.argument}>
          <VisibleText text={argument} />
        </span>
      )}
    </span>
  )
}
