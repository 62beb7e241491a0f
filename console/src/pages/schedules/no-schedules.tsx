import { CalendarClock } from 'lucide-react'
import { EmptyState } from '../../components/empty-state.tsx'

/** How to begin. */
export function NoSchedules({ mayAdd }: { mayAdd: boolean }) {
  return (
    <EmptyState icon={CalendarClock} title="No schedules yet">
      {mayAdd ? 'Make one with New schedule, with ' : 'Make one with '}
      <code>tool-hub cron add</code>, or under <code>schedules.entries</code> in tool-hub.yaml; agents make their own
      with the tool <code>core/cron</code>. docs/schedules.md tells how.
    </EmptyState>
  )
}
