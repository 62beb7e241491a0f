import type { ScheduleEntry } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import type { Column } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { NextTime } from './next-time.tsx'
import styles from './schedules.module.css'
import { WhenWords } from './when-words.tsx'

/** The columns of the list of schedules. */
export const SCHEDULE_COLUMNS: readonly Column<ScheduleEntry>[] = [
  {
    id: 'name',
    title: 'Name',
    width: 'minmax(120px, 1fr)',
    narrow: 'title',
    cell: ({ name }) => <VisibleText text={name} />,
  },
  {
    id: 'when',
    title: 'When',
    width: 'minmax(280px, 2.4fr)',
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
    width: '184px',
    cell: ({ nextAt, enabled, timeZone }) =>
      nextAt === undefined || !enabled ? '–' : <NextTime at={nextAt} timeZone={timeZone} />,
  },
  {
    id: 'last',
    title: 'Last',
    width: '144px',
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
    width: 'minmax(80px, 112px)',
    cell: ({ createdBy, isFromConfig }) => <VisibleText text={isFromConfig ? 'the config' : createdBy.by} />,
  },
  {
    id: 'enabled',
    title: 'State',
    width: '80px',
    narrow: 'side',
    cell: ({ enabled }) => (enabled ? <Badge tone="ok">on</Badge> : <Badge>off</Badge>),
  },
]
