import { useState } from 'react'
import { useShortcut } from '../../keyboard/use-shortcut.ts'
import { clampSpan, moveSpan, type TimeSpan, zoomSpan } from './time-span.ts'

/** What of a run's time is looked at, and how to change it. */
export interface Zoom {
  readonly span: TimeSpan
  readonly isWhole: boolean
  show(span: TimeSpan): void
  by(factor: number): void
  reset(): void
}

/** The part of the time that is shown; the whole, which grows while the run goes on, until somebody looks closer. */
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

/** A span with a little room on both sides. */
export function withMargin({ from, to }: TimeSpan): TimeSpan {
  const margin = Math.max(0.5, (to - from) * 0.05)
  return { from: from - margin, to: to + margin }
}

/** The selected call stays where it is, while it is in sight. */
function middleOf(selected: TimeSpan | undefined, span: TimeSpan): number | undefined {
  if (!selected) return undefined
  const middle = (selected.from + selected.to) / 2
  return middle >= span.from && middle <= span.to ? middle : undefined
}
