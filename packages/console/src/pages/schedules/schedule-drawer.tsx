import { CalendarClock, Pause, PenLine, Play, Power, Trash2 } from 'lucide-react'
import { Link } from 'wouter'
import { refreshResources } from '../../api/query-client.ts'
import { api, useMe } from '../../api/session.ts'
import type { ScheduleEntry, ScheduleRunEntry } from '../../api/types.ts'
import { usePages } from '../../api/use-pages.ts'
import { useAction } from '../../api/use-resource.ts'
import { runPath } from '../../calls/call.ts'
import { Badge, StatusBadge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { DetailPart, Facts } from '../../components/details.tsx'
import { ConfirmButton, Drawer } from '../../components/dialog.tsx'
import { JsonView } from '../../components/json-view.tsx'
import { Note } from '../../components/note.tsx'
import { Loaded } from '../../components/resource.tsx'
import { EmptyState } from '../../components/states.tsx'
import { VisibleText } from '../../components/text.tsx'
import { Duration, Time } from '../../components/time.tsx'
import { showToast } from '../../components/toast.tsx'
import { useCalm } from '../../lib/calm.ts'
import { formatDuration } from '../../lib/format.ts'
import { MISSED_WORDS, OVERLAP_WORDS } from './schedule-form.ts'
import styles from './schedules.module.css'
import { NextTime, WhenText } from './when.tsx'

interface ScheduleDrawerProps {
  readonly schedule: ScheduleEntry | undefined
  readonly onClose: () => void
  readonly onEdit: () => void
}

/** A schedule: its calls, its runs, and its actions. */
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
        <EmptyState icon={CalendarClock} title="Schedule not found">
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

/** When it runs, with whose permissions, and how it handles failures. */
function ScheduleFacts({ schedule }: { schedule: ScheduleEntry }) {
  const { enabled, disabledBecause, nextAt, timeZone, runs, maxRuns, until, jitterMs, timeoutMs } = schedule
  return (
    <>
      <div className={styles.row}>
        {enabled ? <Badge tone="ok">on</Badge> : <Badge>off</Badge>}
        {schedule.isFromConfig && <Badge tone="info">set in the config</Badge>}
        {schedule.createdBy.tainted && <Badge tone="warn">untrusted</Badge>}
      </div>
      {disabledBecause !== undefined && <Note tone="warn" title={<VisibleText text={disabledBecause} />} />}
      <Facts
        facts={[
          ['When', <WhenText key="when" {...schedule} />],
          ['Next', enabled && nextAt !== undefined && <NextTime key="next" at={nextAt} timeZone={timeZone} />],
          [
            'Fired',
            `${runs.toLocaleString('en')} ${runs === 1 ? 'time' : 'times'}${maxRuns === undefined ? '' : ` of ${maxRuns}`}`,
          ],
          ['Until', until && <Time key="until" at={until} />],
          ['Missed', MISSED_WORDS[schedule.missed]],
          ['Overlap', OVERLAP_WORDS[schedule.overlap]],
          ['Random delay', jitterMs > 0 && `up to ${formatDuration(jitterMs)}`],
          ['Time limit', `${formatDuration(timeoutMs)} per run`],
          ['On failure', schedule.continueOnError ? 'continues with the next call' : 'skips the calls after it'],
          ['Permissions of', <VisibleText key="rights" text={schedule.principal ?? 'owner'} />],
          ['Created', <Maker key="created" schedule={schedule} />],
        ]}
      />
    </>
  )
}

function Maker({ schedule: { createdAt, createdBy } }: { schedule: ScheduleEntry }) {
  return (
    <>
      <Time at={createdAt} /> by <VisibleText text={createdBy.by} />
      {createdBy.run !== undefined && (
        <>
          , in{' '}
          <Link to={runPath(createdBy.run, createdBy.callId)}>
            <VisibleText text={createdBy.run} />
          </Link>
        </>
      )}
    </>
  )
}

const PAGE = 20

/** The runs of a schedule, newest first. */
function ScheduleRuns({ id }: { id: string }) {
  const { query, items, hasMore, loadMore } = usePages(
    ['schedules', 'runs', id],
    async (before?: number) => {
      const { runs, next } = await api.schedules.runs(id, { before, limit: PAGE })
      return { items: runs, next }
    },
    {
      what: 'runs',
      compare: (a: ScheduleRunEntry, b: ScheduleRunEntry) => b.seq - a.seq,
      feature: 'schedules',
    },
  )
  return (
    <Loaded query={query}>
      {() => (
        <>
          {items.length === 0 && <p className={styles.muted}>It has not run yet.</p>}
          <ol className={styles.runs} aria-label="Runs of the schedule">
            {items.map((run) => (
              <Run key={run.id} run={run} />
            ))}
          </ol>
          {hasMore && (
            <Button variant="quiet" size="small" onClick={loadMore}>
              Show older runs
            </Button>
          )}
        </>
      )}
    </Loaded>
  )
}

function Run({
  run: { status, dueAt, startedAt, endedAt, runId, missed, summary, error, untrusted },
}: {
  run: ScheduleRunEntry
}) {
  const words = error ?? summary
  return (
    <li className={styles.run}>
      <StatusBadge status={status} />
      <Time at={startedAt ?? dueAt} />
      {startedAt !== undefined && endedAt !== undefined && (
        <span className={styles.muted}>
          took <Duration ms={endedAt - startedAt} />
        </span>
      )}
      {untrusted && <Badge tone="warn">untrusted</Badge>}
      {missed > 0 && <span className={styles.muted}>covers {missed.toLocaleString('en')} more</span>}
      {runId !== undefined && (
        <Link to={runPath(runId)} className={styles.end}>
          Open its run
        </Link>
      )}
      {words !== undefined && (
        <span className={styles.words}>
          <VisibleText text={words} />
        </span>
      )}
    </li>
  )
}

interface ScheduleActionsProps {
  readonly schedule: ScheduleEntry
  readonly onEdit: () => void
  readonly onGone: () => void
}

/** Run, switch on or off, edit, remove. A schedule from the config can only be changed there. */
function ScheduleActions({ schedule, onEdit, onGone }: ScheduleActionsProps) {
  const { id, name, enabled, isFromConfig } = schedule
  // The button that switches it off becomes the one that switches it on, at the same place.
  const calm = useCalm(`${id} ${enabled}`)
  const run = async () => {
    await api.schedules.run(id)
    refreshResources('schedules')
  }
  const remove = async () => {
    await api.schedules.remove(id)
    refreshResources('schedules')
    showToast({ title: `${name} is removed`, description: 'The records of its runs stay.' })
    onGone()
  }
  const toggle = useAction(() => api.schedules.change(id, { enabled: !enabled }), {
    failure: enabled ? 'Not switched off' : 'Not switched on',
    refreshes: ['schedules'],
  })
  return (
    <>
      {!isFromConfig && (
        <>
          <ConfirmButton
            label="Remove"
            icon={Trash2}
            title="Remove this schedule?"
            failure="Not removed"
            onConfirm={remove}
          >
            <p>
              <strong>
                <VisibleText text={name} />
              </strong>{' '}
              no longer runs, and the list of its runs is removed with it; their records stay.
            </p>
          </ConfirmButton>
          <Button icon={PenLine} onClick={onEdit}>
            Edit…
          </Button>
          <Button icon={enabled ? Pause : Power} isBusy={toggle.isBusy} calm={calm} onClick={() => void toggle.run()}>
            {enabled ? 'Switch off' : 'Switch on'}
          </Button>
        </>
      )}
      <ConfirmButton
        label="Run now"
        variant="primary"
        icon={Play}
        title="Run it now?"
        failure="Not run"
        onConfirm={run}
      >
        <p>
          <strong>
            <VisibleText text={name} />
          </strong>{' '}
          makes its {schedule.calls.length === 1 ? 'call' : `${schedule.calls.length} calls`} immediately, with the
          permissions of <VisibleText text={schedule.principal ?? 'owner'} />. Its schedule does not change.
        </p>
      </ConfirmButton>
    </>
  )
}
