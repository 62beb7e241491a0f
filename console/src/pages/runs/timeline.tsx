import { useMemo, useState } from 'react'
import { runPath } from '../../calls/run-path.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { now } from '../../components/now.ts'
import { navigate, useSearchParam } from '../../router/router.ts'
import { useValue } from '../../state/create-value.ts'
import { useMediaQuery } from '../../state/use-media-query.ts'
import { CallPanel } from './call-panel.tsx'
import { isWantedCall } from './is-wanted-call.ts'
import { layoutCalls } from './layout-calls.ts'
import { spanOf } from './time-span.ts'
import styles from './timeline.module.css'
import { TimelineBar } from './timeline-bar.tsx'
import type { LiveRun } from './use-run.ts'
import { useZoom } from './use-zoom.ts'
import { Waterfall } from './waterfall.tsx'

const NONE: ReadonlySet<string> = new Set()

/** The calls of a run on one time axis, and the selected one in detail. */
export function Timeline({ run: { run, calls }, call }: { run: LiveRun; call: string | undefined }) {
  const [text, setText] = useSearchParam('text')
  const [status, setStatus] = useSearchParam('status')
  const [closed, setClosed] = useState(NONE)
  const isWide = useMediaQuery('(min-width: 1080px)')
  const isRunning = calls.some((entry) => entry.status === 'running')
  const current = useValue(now)
  const isFiltered = text !== '' || status !== ''
  const rows = useMemo(
    () =>
      layoutCalls(calls, {
        closed,
        isWanted: isFiltered ? (entry) => isWantedCall(entry, { text, status }) : undefined,
      }),
    [calls, closed, isFiltered, text, status],
  )
  const all = useMemo(() => layoutCalls(calls), [calls])
  const whole = spanOf(all, isRunning ? current : 0)
  const selected = rows.find((row) => row.call.callId === call)
  const zoom = useZoom(whole, selected && { from: selected.begin, to: selected.end ?? whole.to })
  const pathTo = (callId?: string) => `${runPath(run.run, callId)}${window.location.search}`
  const select = (callId?: string) => navigate(pathTo(callId), { replace: true })
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
            follows={isWide}
            onSelect={select}
            onToggle={toggle}
          />
        )}
        {rows.length === 0 && (
          <div className={styles.empty}>
            <EmptyState title={isFiltered ? 'No call fits' : 'No calls on record'}>
              {isFiltered
                ? 'Change or clear the search and the status.'
                : 'A call appears when it begins; one that waits for an approval, when somebody has answered.'}
            </EmptyState>
          </div>
        )}
        <CallPanel calls={calls} call={call} isBeside={isWide} pathTo={pathTo} onClose={() => select()} />
      </div>
    </>
  )
}
