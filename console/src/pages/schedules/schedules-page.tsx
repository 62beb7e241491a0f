import { Plus } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/api.ts'
import type { ScheduleEntry } from '../../api/types.ts'
import { useMe } from '../../api/use-me.ts'
import { useQuery } from '../../api/use-query.ts'
import { Button } from '../../components/button.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Page } from '../../components/page.tsx'
import { Table } from '../../components/table.tsx'
import { useShortcut } from '../../keyboard/use-shortcut.ts'
import { navigate } from '../../router/router.ts'
import type { PageProps } from '../../router/routes.tsx'
import { NoSchedules } from './no-schedules.tsx'
import { SCHEDULE_COLUMNS } from './schedule-columns.tsx'
import { ScheduleDialog } from './schedule-dialog.tsx'
import { ScheduleDrawer } from './schedule-drawer.tsx'
import { schedulePath } from './schedule-path.ts'
import { TickerNotes } from './ticker-notes.tsx'

/** Calls that are made later, again and again: when, by whom, and what became of them. */
export default function SchedulesPage({ params: { id } }: PageProps) {
  const isAdmin = useMe().may('admin')
  const [edited, setEdited] = useState<ScheduleEntry | 'new'>()
  const query = useQuery('schedules list', () => api.schedules.list(), {
    refreshOn: ['ability-changed'],
    ability: 'schedules',
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
