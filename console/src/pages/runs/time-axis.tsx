// biome-ignore-all lint/a11y/useSemanticElements: it heads a grid that is made of divs.
// biome-ignore-all lint/a11y/useFocusableInteractive: heads of columns take no focus.
import { type CSSProperties, type PointerEvent, useState } from 'react'
import { formatDuration } from '../../components/format-duration.ts'
import styles from './time-axis.module.css'
import { ticksOf } from './time-span.ts'
import type { Zoom } from './use-zoom.ts'

// As many as have room beside the details of a call.
const MOST_TICKS = 5
// A label that begins here would not end before the edge does.
const LAST_PERCENT = 82
const LEAST_PERCENT = 0.5

/** The head of the waterfall: times since the run began; a stretch that is drawn over it is zoomed to. */
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
    if (!drag || Math.abs(drag.to - drag.from) < LEAST_PERCENT) return
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
          title="Draw over a stretch to zoom to it"
          className={styles.axis}
          onPointerDown={start}
          onPointerMove={move}
          onPointerUp={stop}
          onPointerCancel={() => setDrag(undefined)}
        >
          {ticksOf(span, origin, MOST_TICKS).map((tick) => {
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
