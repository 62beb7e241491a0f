import { CalendarClock, Plus } from 'lucide-react'
import { useState } from 'react'
import { api, useMe } from '../../api/session.ts'
import type { ScheduleEntry } from '../../api/types.ts'
import { useResource } from '../../api/use-resource.ts'
import { Badge, StatusBadge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Note } from '../../components/note.tsx'
import { Page } from '../../components/page.tsx'
import { Loaded } from '../../components/resource.tsx'
import { EmptyState } from '../../components/states.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { VisibleText } from '../../components/text.tsx'
import { Time } from '../../components/time.tsx'
import { useShortcut } from '../../lib/shortcuts.ts'
import { navigate } from '../../router/router.ts'
import type { PageProps } from '../../router/routes.tsx'
import { tellingArgument } from './describe.ts'
import { ScheduleDialog } from './schedule-dialog.tsx'
import { ScheduleDrawer } from './schedule-drawer.tsx'
import { schedulePath } from './schedule-form.ts'
import styles from './schedules.module.css'
import { NextTime, WhenText } from './when.tsx'

/** Scheduled calls: when they run, by whom, and their results. */
export default function SchedulesPage({ params: { id } }: PageProps) {
  const isAdmin = useMe().may('admin')
  const [edited, setEdited] = useState<ScheduleEntry | 'new'>()
  const query = useResource(['schedules', 'list'], () => api.schedules.list(), {
    feature: 'schedules',
  })
  useShortcut('i', 'New schedule', () => setEdited('new'), { when: isAdmin })
  const close = () => navigate(schedulePath(undefined))
  const opened = query.data?.schedules.find((schedule) => schedule.id === id)
  return (
    <Page
      title="Schedules"
      description="Calls that are made at set times; each time is a run with its own record."
      fill
      actions={
        isAdmin && (
          <Button variant="primary" icon={Plus} shortcut="i" onClick={() => setEdited('new')}>
            New schedule
          </Button>
        )
      }
    >
      <Loaded query={query}>
        {({ schedules, status }) => (
          <>
            <TickerNotes {...status} hasSchedules={schedules.length > 0} />
            <Table
              label="Schedules"
              rows={schedules}
              columns={SCHEDULE_COLUMNS}
              rowKey={(schedule) => schedule.id}
              onOpen={(schedule) => navigate(schedulePath(schedule.id))}
              selected={id}
              tone={({ disabledBecause }) => (disabledBecause === undefined ? undefined : 'warn')}
              empty={<NoSchedules mayAdd={isAdmin} />}
            />
          </>
        )}
      </Loaded>
      {id !== undefined && (opened || !query.isLoading) && (
        <ScheduleDrawer key={id} schedule={opened} onClose={close} onEdit={() => setEdited(opened)} />
      )}
      {edited !== undefined && (
        <ScheduleDialog schedule={edited === 'new' ? undefined : edited} onClose={() => setEdited(undefined)} />
      )}
    </Page>
  )
}

/** The columns of the list of schedules. */
const SCHEDULE_COLUMNS: readonly Column<ScheduleEntry>[] = [
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
    cell: ({ calls }) => <CallSummary calls={calls} />,
  },
  {
    id: 'when',
    title: 'When',
    width: 'minmax(144px, 1.6fr)',
    wraps: true,
    narrow: 'plain',
    cell: (schedule) => (
      <span>
        <WhenText {...schedule} />
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
    title: 'Created by',
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

/** The tool and the most descriptive argument of the first call, and how many calls follow it. */
function CallSummary({ calls: [first, ...others] }: { calls: ScheduleEntry['calls'] }) {
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

interface TickerNotesProps {
  readonly isTicking: boolean
  readonly problems: readonly string[]
  readonly hasSchedules: boolean
}

/** Why schedules do not run: no process runs them, or the config has a mistake. */
function TickerNotes({ isTicking, problems, hasSchedules }: TickerNotesProps) {
  return (
    <>
      {!isTicking && hasSchedules && (
        <Note tone="warn" title="Schedules are not running.">
          <p>
            No process runs the schedules of this store. Start <code>tool-hub serve</code>, or call{' '}
            <code>hub.schedules.start()</code> in a program.
          </p>
        </Note>
      )}
      {problems.length > 0 && (
        <Note tone="bad" title="Some schedules in the config are invalid.">
          <ul>
            {problems.map((problem) => (
              <li key={problem}>
                <VisibleText text={problem} />
              </li>
            ))}
          </ul>
        </Note>
      )}
    </>
  )
}

/** How to create the first schedule. */
function NoSchedules({ mayAdd }: { mayAdd: boolean }) {
  return (
    <EmptyState icon={CalendarClock} title="No schedules yet">
      {mayAdd ? 'Create one with New schedule, with ' : 'Create one with '}
      <code>tool-hub cron add</code>, or under <code>schedules.entries</code> in tool-hub.yaml; agents create their own
      with the tool <code>core/cron</code>. See docs/reference/schedules.md.
    </EmptyState>
  )
}
