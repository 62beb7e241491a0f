import { Pause, PenLine, Play, Power, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/api.ts'
import { refreshQueries } from '../../api/query-cache.ts'
import type { ScheduleEntry } from '../../api/types.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { showFailure } from '../../components/show-failure.ts'
import { showToast } from '../../components/show-toast.ts'
import { VisibleText } from '../../components/visible-text.tsx'
import { useCalm } from '../../keyboard/use-calm.ts'

interface ScheduleActionsProps {
  readonly schedule: ScheduleEntry
  readonly onEdit: () => void
  readonly onGone: () => void
}

/** Run now, switch on and off, change, remove; what the config says is changed there. */
export function ScheduleActions({ schedule, onEdit, onGone }: ScheduleActionsProps) {
  const { id, name, enabled, isFromConfig } = schedule
  const [asked, setAsked] = useState<'run' | 'remove'>()
  const [isBusy, setBusy] = useState(false)
  // The button that switches it off becomes the one that switches it on, at the same place.
  const calm = useCalm(`${id} ${enabled}`)
  const close = () => setAsked(undefined)
  const run = async () => {
    await api.schedules.run(id)
    refreshQueries('schedules')
  }
  const remove = async () => {
    await api.schedules.remove(id)
    refreshQueries('schedules')
    showToast({ title: `${name} is removed`, description: 'The records of its runs stay.' })
    onGone()
  }
  const toggle = async () => {
    setBusy(true)
    try {
      await api.schedules.change(id, { enabled: !enabled })
      refreshQueries('schedules')
    } catch (error) {
      showFailure(enabled ? 'Not switched off' : 'Not switched on', error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      {!isFromConfig && (
        <>
          <Button icon={Trash2} onClick={() => setAsked('remove')}>
            Remove
          </Button>
          <Button icon={PenLine} onClick={onEdit}>
            Edit…
          </Button>
          <Button icon={enabled ? Pause : Power} isBusy={isBusy} calm={calm} onClick={toggle}>
            {enabled ? 'Switch off' : 'Switch on'}
          </Button>
        </>
      )}
      <Button variant="primary" icon={Play} onClick={() => setAsked('run')}>
        Run now
      </Button>
      <ConfirmDialog
        isOpen={asked === 'run'}
        onClose={close}
        title="Run it now?"
        action="Run now"
        failure="Not run"
        onConfirm={run}
      >
        <p>
          <strong>
            <VisibleText text={name} />
          </strong>{' '}
          makes its {schedule.calls.length === 1 ? 'call' : `${schedule.calls.length} calls`} at once, with the rights
          of <VisibleText text={schedule.principal ?? 'owner'} />. Its times stay as they are.
        </p>
      </ConfirmDialog>
      <ConfirmDialog
        isOpen={asked === 'remove'}
        onClose={close}
        title="Remove this schedule?"
        action="Remove"
        failure="Not removed"
        onConfirm={remove}
      >
        <p>
          <strong>
            <VisibleText text={name} />
          </strong>{' '}
          does not run any more, and the list of its runs goes with it; their records stay.
        </p>
      </ConfirmDialog>
    </>
  )
}
