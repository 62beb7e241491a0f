// biome-ignore-all lint/a11y/useSemanticElements: it heads a grid that is made of divs.
// biome-ignore-all lint/a11y/useFocusableInteractive: heads of columns take no focus.
import { type CSSProperties, type PointerEvent, useState } from 'react'
import { formatDuration } from '../../lib/format.ts'
import { useShortcut } from '../../lib/shortcuts.ts'
import { clampSpan, moveSpan, type TimeSpan, ticksOf, zoomSpan } from './time-span.ts'
import styles from './waterfall.module.css'

// As many as fit next to the details of a call.
const MAX_TICKS = 5
// A label that starts after this would be cut off.
const LAST_PERCENT = 82
const MIN_PERCENT = 0.5

/** The header of the waterfall: the time since the run started. Dragging over it zooms in. */
export function TimeAxis({ zoom, origin }: { zoom: Zoom; origin: number }) {
  const [drag, setDrag] = useState<{ readonly from: number; readonly to: number }>()
  const { span } = zoom
  const length = span.to - span.from
  const start = (event: PointerEvent<HTMLDivElement>) => {
    if (event.button !== 0) return
    event.currentTarget.setPointerCapture(event.pointerId)
    const at = percentAt(event)
    setDrag({ from: at, to: at })
  }
  const move = (event: PointerEvent<HTMLDivElement>) => drag && setDrag({ from: drag.from, to: percentAt(event) })
  const stop = () => {
    setDrag(undefined)
    if (!drag || Math.abs(drag.to - drag.from) < MIN_PERCENT) return
    const [first, last] = [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)]
    zoom.show({ from: span.from + (first / 100) * length, to: span.from + (last / 100) * length })
  }
  return (
    <div role="rowgroup" className={styles.head}>
      <div role="row" aria-rowindex={1} className={styles.headRow}>
        <div role="columnheader" className={styles.headName}>
          Call
        </div>
        <div
          role="columnheader"
          aria-label="Time since the run began"
          title="Drag to zoom in"
          className={styles.axis}
          onPointerDown={start}
          onPointerMove={move}
          onPointerUp={stop}
          onPointerCancel={() => setDrag(undefined)}
        >
          {ticksOf(span, origin, MAX_TICKS).map((tick) => {
            const from = ((origin + tick - span.from) / length) * 100
            return (
              <span
                key={tick}
                className={styles.tick}
                data-last={from > LAST_PERCENT || undefined}
                style={{ '--from': `${from}%` } as CSSProperties}
              >
                {tick === 0 ? '0' : formatDuration(tick)}
              </span>
            )
          })}
          {drag && (
            <span
              className={styles.brush}
              style={
                {
                  '--from': `${Math.min(drag.from, drag.to)}%`,
                  '--length': `${Math.abs(drag.to - drag.from)}%`,
                } as CSSProperties
              }
            />
          )}
        </div>
        <div role="columnheader" className={styles.headTook}>
          Took
        </div>
      </div>
    </div>
  )
}

function percentAt(event: PointerEvent<HTMLDivElement>): number {
  const box = event.currentTarget.getBoundingClientRect()
  return Math.min(100, Math.max(0, ((event.clientX - box.left) / box.width) * 100))
}

/** The visible time span of a run, and how to change it. */
export interface Zoom {
  readonly span: TimeSpan
  readonly isWhole: boolean
  show(span: TimeSpan): void
  by(factor: number): void
  reset(): void
}

/** The visible time span. Without a zoom it is the whole run, which grows while the run continues. */
export function useZoom(whole: TimeSpan, selected: TimeSpan | undefined): Zoom {
  const [chosen, setChosen] = useState<TimeSpan>()
  const span = chosen ? clampSpan(chosen, whole) : whole
  const isWhole = span.from <= whole.from && span.to >= whole.to
  const choose = (next: TimeSpan) => setChosen(next.from <= whole.from && next.to >= whole.to ? undefined : next)
  const zoom: Zoom = {
    span,
    isWhole,
    show: (wanted) => choose(clampSpan(wanted, whole)),
    by: (factor) => choose(zoomSpan(span, factor, whole, middleOf(selected, span))),
    reset: () => setChosen(undefined),
  }
  useShortcut('z', 'Zoom to the selected call', () => selected && zoom.show(withMargin(selected)))
  useShortcut('+', 'Zoom in', () => zoom.by(0.5))
  useShortcut('-', 'Zoom out', () => zoom.by(2))
  useShortcut('0', 'Show the whole run', zoom.reset)
  useShortcut('[', 'Earlier', () => choose(moveSpan(span, -0.5, whole)))
  useShortcut(']', 'Later', () => choose(moveSpan(span, 0.5, whole)))
  return zoom
}

/** Adds a margin on both sides of a span. */
export function withMargin({ from, to }: TimeSpan): TimeSpan {
  const margin = Math.max(0.5, (to - from) * 0.05)
  return { from: from - margin, to: to + margin }
}

/** The center of the selected call if it is visible, so that zooming keeps it in place. */
function middleOf(selected: TimeSpan | undefined, span: TimeSpan): number | undefined {
  if (!selected) return undefined
  const middle = (selected.from + selected.to) / 2
  return middle >= span.from && middle <= span.to ? middle : undefined
}
