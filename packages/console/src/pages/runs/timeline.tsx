import { Maximize2, ScanSearch, X, ZoomIn, ZoomOut } from 'lucide-react'
import { useMemo, useState } from 'react'
import type { CallEntry } from '../../api/types.ts'
import { CALL_STATUSES, runPath } from '../../calls/call.ts'
import { CallDetails } from '../../calls/call-details.tsx'
import { CallDrawer, useCallDetail } from '../../calls/call-drawer.tsx'
import { useWaitingCalls, withWaiting } from '../../calls/waiting.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { FilterBar, FilterSelect, SearchField } from '../../components/filters.tsx'
import { Loaded } from '../../components/resource.tsx'
import { EmptyState } from '../../components/states.tsx'
import { VisibleText } from '../../components/text.tsx'
import { now } from '../../components/time.tsx'
import { useMediaQuery } from '../../lib/hooks.ts'
import { useShortcut } from '../../lib/shortcuts.ts'
import { useValue } from '../../lib/watched-value.ts'
import { navigate, useSearchParam } from '../../router/router.ts'
import { isWantedCall, layoutCalls } from './run-calls.ts'
import styles from './runs.module.css'
import { useZoom, withMargin, type Zoom } from './time-axis.tsx'
import { spanOf, type TimeSpan } from './time-span.ts'
import { type LiveRun, useWaits } from './use-run.ts'
import { Waterfall } from './waterfall.tsx'

const NONE: ReadonlySet<string> = new Set()

/** The calls of a run on one time axis, and the selected one in detail. */
export function Timeline({ run: { run, calls: recorded }, call }: { run: LiveRun; call: string | undefined }) {
  const waits = useWaits(run.run)
  const waiting = useWaitingCalls()
  const calls = useMemo(
    () =>
      withWaiting(
        recorded,
        waiting.calls.filter((entry) => entry.run === run.run),
      ),
    [recorded, waiting, run.run],
  )
  const [text, setText] = useSearchParam('text')
  const [status, setStatus] = useSearchParam('status')
  const [closed, setClosed] = useState(NONE)
  const isWide = useMediaQuery('(min-width: 1080px)')
  const isRunning = calls.some(({ status }) => status === 'running' || status === 'waiting')
  const current = useValue(now)
  const isFiltered = text !== '' || status !== ''
  const rows = useMemo(
    () =>
      layoutCalls(calls, {
        closed,
        waits,
        isWanted: isFiltered ? (entry) => isWantedCall(entry, { text, status }) : undefined,
      }),
    [calls, closed, waits, isFiltered, text, status],
  )
  const all = useMemo(() => layoutCalls(calls, { waits }), [calls, waits])
  const whole = spanOf(all, isRunning ? current : 0)
  const selected = rows.find((row) => row.call.callId === call)
  const zoom = useZoom(whole, selected && { from: selected.begin, to: selected.end ?? whole.to })
  const pathTo = (callId?: string) => `${runPath(run.run, callId)}${window.location.search}`
  const select = (callId?: string) => {
    // A call that waits is not on record: it is shown where it is answered.
    const path =
      callId === undefined || recorded.some((entry) => entry.callId === callId) ? undefined : waiting.pathOf(callId)
    navigate(path ?? pathTo(callId), { replace: path === undefined })
  }
  const toggle = (callId: string) => {
    const next = new Set(closed)
    if (!next.delete(callId)) next.add(callId)
    setClosed(next)
  }
  return (
    <>
      <TimelineBar
        text={text}
        onText={setText}
        status={status}
        onStatus={setStatus}
        zoom={zoom}
        selected={selected && { from: selected.begin, to: selected.end ?? whole.to }}
        summary={
          isFiltered
            ? `${rows.length.toLocaleString('en')} ${rows.length === 1 ? 'row' : 'rows'} of ${calls.length.toLocaleString('en')} calls`
            : undefined
        }
      />
      <div className={styles.split}>
        {rows.length > 0 && (
          <Waterfall
            rows={rows}
            zoom={zoom}
            origin={whole.from}
            end={whole.to}
            selected={call}
            follows={isWide && waiting.calls.every((entry) => entry.run !== run.run)}
            onSelect={select}
            onToggle={toggle}
          />
        )}
        {rows.length === 0 && (
          <div className={styles.empty}>
            <EmptyState title={isFiltered ? 'No call matches' : 'No calls on record'}>
              {isFiltered
                ? 'Change or clear the search and the status.'
                : 'A call appears when it starts, or after the answer if it needs approval.'}
            </EmptyState>
          </div>
        )}
        <CallPanel calls={calls} call={call} isBeside={isWide} pathTo={pathTo} onClose={() => select()} />
      </div>
    </>
  )
}

interface TimelineBarProps {
  readonly text: string
  readonly onText: (text: string) => void
  readonly status: string
  readonly onStatus: (status: string) => void
  readonly zoom: Zoom
  readonly selected: TimeSpan | undefined
  readonly summary: string | undefined
}

/** The filters and the zoom of the timeline. */
function TimelineBar({ text, onText, status, onStatus, zoom, selected, summary }: TimelineBarProps) {
  return (
    <FilterBar summary={summary}>
      <SearchField label="Search calls" value={text} onChange={onText} />
      <FilterSelect label="Status" value={status} options={CALL_STATUSES} onChange={onStatus} />
      <IconButton icon={ZoomIn} label="Zoom in" shortcut="+" onClick={() => zoom.by(0.5)} />
      <IconButton icon={ZoomOut} label="Zoom out" shortcut="-" disabled={zoom.isWhole} onClick={() => zoom.by(2)} />
      <IconButton
        icon={ScanSearch}
        label="Zoom to the selected call"
        shortcut="z"
        disabled={selected === undefined}
        onClick={() => selected && zoom.show(withMargin(selected))}
      />
      {!zoom.isWhole && (
        <Button size="small" variant="quiet" icon={Maximize2} shortcut="0" onClick={zoom.reset}>
          Whole run
        </Button>
      )}
    </FilterBar>
  )
}

interface CallPanelProps {
  readonly calls: readonly CallEntry[]
  readonly call: string | undefined
  /** Next to the timeline; otherwise over it. */
  readonly isBeside: boolean
  readonly pathTo: (callId: string) => string
  readonly onClose: () => void
}

/** The selected call, next to the timeline or over it. */
function CallPanel({ calls, call, isBeside, pathTo, onClose }: CallPanelProps) {
  if (!isBeside) return <CallDrawer callId={call} onClose={onClose} pathTo={pathTo} isInRun />
  if (call === undefined) return null
  const tool = calls.find(({ callId }) => callId === call)?.tool
  return <CallBeside callId={call} title={tool ?? call} pathTo={pathTo} onClose={onClose} />
}

interface CallBesideProps extends Pick<CallPanelProps, 'pathTo' | 'onClose'> {
  readonly callId: string
  readonly title: string
}

function CallBeside({ callId, title, pathTo, onClose }: CallBesideProps) {
  const query = useCallDetail(callId)
  useShortcut('Escape', 'Close the call', onClose)
  return (
    <aside className={styles.panel} aria-label={`Call ${title}`}>
      <header className={styles.header}>
        <h2 className={styles.title}>
          <VisibleText text={title} />
        </h2>
        <IconButton icon={X} label="Close the call" shortcut="Escape" onClick={onClose} />
      </header>
      <div className={styles.body}>
        <Loaded query={query}>{(detail) => <CallDetails detail={detail} pathTo={pathTo} isInRun />}</Loaded>
      </div>
    </aside>
  )
}
