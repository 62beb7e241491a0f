import { Activity, Pause, Play } from 'lucide-react'
import { useEffect, useMemo } from 'react'
import { CallDrawer } from '../../calls/call-drawer.tsx'
import { toneOfCall } from '../../calls/tone-of-call.ts'
import { Button } from '../../components/button.tsx'
import { ErrorState } from '../../components/error-state.tsx'
import { Page } from '../../components/page.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { Table } from '../../components/table.tsx'
import { useShortcut } from '../../keyboard/use-shortcut.ts'
import { navigate } from '../../router/router.ts'
import type { PageProps } from '../../router/routes.tsx'
import { useSettled } from '../../state/use-settled.ts'
import { LIVE_COLUMNS } from './live-columns.tsx'
import { LiveEmpty } from './live-empty.tsx'
import { LiveFilters } from './live-filters.tsx'
import styles from './live-page.module.css'
import { LiveState } from './live-state.tsx'
import { LiveStrip } from './live-strip.tsx'
import { useCallFilter } from './use-call-filter.ts'
import { useHold } from './use-hold.ts'
import { useLiveCalls } from './use-live-calls.ts'

/** Calls as they happen. */
export default function LivePage({ params: { call: opened } }: PageProps) {
  const { filter, change, clear, isActive } = useCallFilter()
  const text = useSettled(filter.text)
  const { list, snapshot } = useLiveCalls(useMemo(() => ({ ...filter, text }), [filter, text]))
  const { rows, isLoading, error } = snapshot
  const hold = useHold()
  const { isHeld, isPaused } = hold
  useEffect(() => list.hold(isHeld || opened !== undefined), [list, isHeld, opened])

  const toggle = () => (isHeld ? hold.resume() : hold.pause())
  useShortcut('p', 'Pause, or follow again', toggle)
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
          // The row that the keys were at may not be in the list that comes.
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
              if (opened !== undefined) open(call.callId, true)
            }}
            onOpen={({ callId }) => open(callId)}
            onEnd={() => void list.loadMore()}
            empty={<LiveEmpty icon={Activity} isFiltered={isActive} onClear={clear} />}
          />
        </div>
      )}
      <CallDrawer callId={opened} onClose={() => open()} pathTo={pathTo} />
    </Page>
  )
}

// The filters stay in the address; moving on from one opened call to the next is no step to go back.
function open(callId?: string, replace = false): void {
  navigate(pathTo(callId), { replace })
}

function pathTo(callId: string | undefined): string {
  const path = callId === undefined ? '/live' : `/live/${encodeURIComponent(callId)}`
  return `${path}${window.location.search}`
}
