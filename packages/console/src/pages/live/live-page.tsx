import { Activity, ArrowUp, CirclePause, type LucideIcon, Pause, Play, Radio } from 'lucide-react'
import { useEffect, useMemo } from 'react'
import { Link } from 'wouter'
import type { CallEntry } from '../../api/types.ts'
import { toneOfCall } from '../../calls/call.ts'
import { CALL_COLUMNS } from '../../calls/call-columns.tsx'
import { CallDrawer } from '../../calls/call-drawer.tsx'
import { useWaitingCalls, withWaiting } from '../../calls/waiting.ts'
import { Button } from '../../components/button.tsx'
import { Page } from '../../components/page.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Duration, now } from '../../components/time.tsx'
import { classNames } from '../../lib/class-names.ts'
import { formatDuration } from '../../lib/format.ts'
import { useSettled } from '../../lib/hooks.ts'
import { useShortcut } from '../../lib/shortcuts.ts'
import { useValue } from '../../lib/watched-value.ts'
import { navigate } from '../../router/router.ts'
import type { PageProps } from '../../router/routes.tsx'
import { fitsFilter } from './call-filter.ts'
import styles from './live.module.css'
import { LiveFilters, useCallFilter } from './live-filters.tsx'
import type { LiveSnapshot } from './live-list.ts'
import { LiveStrip } from './live-strip.tsx'
import { type Hold, useHold, useLiveCalls } from './use-live-calls.ts'

/** Calls as they happen. */
export default function LivePage({ params: { call: opened } }: PageProps) {
  const { filter, change, clear, isActive } = useCallFilter()
  const text = useSettled(filter.text)
  const { list, snapshot } = useLiveCalls(useMemo(() => ({ ...filter, text }), [filter, text]))
  const { isLoading, error } = snapshot
  const waiting = useWaitingCalls()
  const rows = useMemo(
    () =>
      withWaiting(
        snapshot.rows,
        waiting.calls.filter((call) => fitsFilter(call, { ...filter, text })),
      ),
    [snapshot.rows, waiting, filter, text],
  )
  const hold = useHold()
  const { isHeld, isPaused } = hold
  useEffect(() => list.hold(isHeld || opened !== undefined), [list, isHeld, opened])

  const toggle = () => (isHeld ? hold.resume() : hold.pause())
  useShortcut('p', 'Pause or resume', toggle)
  useShortcut('n', 'Show the new calls', hold.resume)
  return (
    <Page
      title="Live"
      fill
      actions={
        <>
          <LiveState hold={hold} snapshot={snapshot} />
          <Button icon={isHeld ? Play : Pause} shortcut="p" aria-pressed={isPaused} onClick={toggle}>
            {isHeld ? 'Resume' : 'Pause'}
          </Button>
        </>
      }
    >
      <LiveStrip />
      <LiveFilters
        filter={filter}
        onChange={(name, value) => {
          // The active row may not be in the new list.
          hold.moveTo(0)
          change(name, value)
        }}
        onClear={clear}
      />
      {error && rows.length === 0 && <ErrorState error={error} onRetry={() => void list.reload()} />}
      {isLoading && rows.length === 0 && <Skeleton />}
      {(rows.length > 0 || (!isLoading && !error)) && (
        <div className={styles.area} {...hold.area}>
          <Table
            label="Calls"
            rows={rows}
            columns={LIVE_COLUMNS}
            rowKey={({ callId }) => callId}
            selected={opened}
            tone={toneOfCall}
            onActive={(call) => {
              hold.moveTo(rows.indexOf(call))
              if (opened !== undefined && call.status !== 'waiting') open(call.callId, true)
            }}
            onOpen={({ callId, status }) => {
              const path = status === 'waiting' ? waiting.pathOf(callId) : undefined
              if (path === undefined) open(callId)
              else navigate(path)
            }}
            onEnd={() => void list.loadMore()}
            empty={<LiveEmpty icon={Activity} isFiltered={isActive} onClear={clear} />}
          />
        </div>
      )}
      <CallDrawer callId={opened} onClose={() => open()} pathTo={pathTo} />
    </Page>
  )
}

// Keeps the filters. Moving from one opened call to the next does not add to the history.
function open(callId?: string, replace = false): void {
  navigate(pathTo(callId), { replace })
}

function pathTo(callId: string | undefined): string {
  const path = callId === undefined ? '/live' : `/live/${encodeURIComponent(callId)}`
  return `${path}${window.location.search}`
}

/** Whether the list is following or held, and the button to show the calls that were held back. */
function LiveState({ hold, snapshot }: { hold: Hold; snapshot: LiveSnapshot }) {
  const { rows, waiting, isComplete } = snapshot
  const Icon = hold.isHeld ? CirclePause : Radio
  return (
    <div className={styles.state}>
      {waiting > 0 && (
        <Button size="small" variant="primary" icon={ArrowUp} shortcut="n" onClick={hold.resume}>
          {waiting.toLocaleString('en')} new
        </Button>
      )}
      <span className={classNames(styles.word, hold.isHeld && styles.held)}>
        <Icon size={13} aria-hidden="true" />
        {wordFor(hold)}
        {hold.isHeld && !hold.isPaused && <span className={styles.why}>while you read</span>}
      </span>
      <span className={styles.count}>
        {rows.length.toLocaleString('en')}
        {isComplete ? '' : '+'} {rows.length === 1 ? 'call' : 'calls'}
      </span>
    </div>
  )
}

function wordFor({ isHeld, isPaused }: Hold): string {
  if (isPaused) return 'paused'
  return isHeld ? 'holding' : 'following'
}

/** Shown if there are no calls, or none that match. */
function LiveEmpty({ icon, isFiltered, onClear }: { icon: LucideIcon; isFiltered: boolean; onClear: () => void }) {
  if (isFiltered) {
    return (
      <EmptyState icon={icon} title="No call matches" action={<Button onClick={onClear}>Clear filters</Button>}>
        No recorded call matches. New calls that match appear here as they happen.
      </EmptyState>
    )
  }
  return (
    <EmptyState icon={icon} title="No calls yet">
      Connect an agent to <code>{window.location.origin}/mcp</code> with a token from the page{' '}
      <Link to="/tokens">Tokens</Link>, or <Link to="/tools">try a tool</Link>. Calls appear here as they happen.
    </EmptyState>
  )
}

/** The columns of calls without the run, with bars for the duration. */
const LIVE_COLUMNS: readonly Column<CallEntry>[] = CALL_COLUMNS.filter(({ id }) => id !== 'run').map((column) =>
  column.id === 'duration' ? { ...column, width: '104px', cell: (call) => <TookCell call={call} /> } : column,
)

const MAX_BAR_MS = 60_000

/** The duration of a call with a bar (each third of it is about a factor of 40); a running call counts up. */
function TookCell({ call }: { call: CallEntry }) {
  if (call.durationMs === undefined && call.status === 'running') return <RunningFor since={call.startedAt} />
  return (
    <span className={styles.took}>
      <Duration ms={call.durationMs} />
      {call.durationMs !== undefined && (
        <svg viewBox="0 0 64 3" preserveAspectRatio="none" aria-hidden="true" className={styles.bar}>
          <rect width="64" height="3" className={styles.barBack} />
          <rect width={barLength(call.durationMs) * 64} height="3" className={styles.barLength} />
        </svg>
      )}
    </span>
  )
}

function RunningFor({ since }: { since: number }) {
  const current = useValue(now)
  const seconds = Math.floor((current - since) / 1_000)
  return <span className={styles.running}>{seconds < 1 ? '…' : formatDuration(seconds * 1_000)}</span>
}

// Logarithmic: 2 ms and 200 ms differ as much as 200 ms and 20 s.
function barLength(ms: number): number {
  return Math.min(1, Math.log1p(Math.max(0, ms)) / Math.log1p(MAX_BAR_MS))
}
