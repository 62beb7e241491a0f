import { CalendarClock } from 'lucide-react'
import type { ScheduleEntry } from '../../api/types.ts'
import { useMe } from '../../api/use-me.ts'
import { DetailPart } from '../../calls/detail-part.tsx'
import { Drawer } from '../../components/drawer.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { JsonView } from '../../components/json-view.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { ScheduleActions } from './schedule-actions.tsx'
import { ScheduleFacts } from './schedule-facts.tsx'
import { ScheduleRuns } from './schedule-runs.tsx'
import styles from './schedules.module.css'

interface ScheduleDrawerProps {
  readonly schedule: ScheduleEntry | undefined
  readonly onClose: () => void
  readonly onEdit: () => void
}

/** One schedule: its calls, what became of its times, and what can be done with it. */
export function ScheduleDrawer({ schedule, onClose, onEdit }: ScheduleDrawerProps) {
  const isAdmin = useMe().may('admin')
  return (
    <Drawer
      isOpen
      onClose={onClose}
      isWide
      keepsShortcuts
      title={schedule ? <VisibleText text={schedule.name} /> : 'Schedule'}
      footer={
        schedule && isAdmin ? <ScheduleActions schedule={schedule} onEdit={onEdit} onGone={onClose} /> : undefined
      }
    >
      {!schedule && (
        <EmptyState icon={CalendarClock} title="There is no such schedule">
          It was removed. The records of its runs stay, under Runs.
        </EmptyState>
      )}
      {schedule && (
        <>
          <ScheduleFacts schedule={schedule} />
          <DetailPart
            title={schedule.calls.length === 1 ? 'The call' : `Calls, in this order (${schedule.calls.length})`}
          >
            <ol className={styles.calls} aria-label="Calls">
              {schedule.calls.map(({ tool, input }, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the same call may come twice, and the order never changes.
                <li key={index}>
                  <code>
                    <VisibleText text={tool} />
                  </code>
                  <JsonView value={input ?? {}} label={`arguments of ${tool}`} />
                </li>
              ))}
            </ol>
          </DetailPart>
          <DetailPart title="Runs">
            <ScheduleRuns id={schedule.id} />
          </DetailPart>
        </>
      )}
    </Drawer>
  )
}
