// biome-ignore-all lint/a11y/useSemanticElements: a table element cannot lay its rows out virtually.
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus and names the active row.
// biome-ignore-all lint/a11y/useKeyWithClickEvents: Enter on the grid does what a press on a row does.

import { ChevronDown, ChevronRight } from 'lucide-react'
import { type CSSProperties, type MouseEvent, memo } from 'react'
import { describeCall } from '../../calls/describe-call.ts'
import { classNames } from '../../components/class-names.ts'
import { Duration } from '../../components/duration.tsx'
import { STATUSES } from '../../components/status-badge.tsx'
import { StatusIcon } from '../../components/status-icon.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import type { CallRow } from './layout-calls.ts'
import { placeBar } from './place-bar.ts'
import type { TimeSpan } from './time-span.ts'
import styles from './waterfall.module.css'

interface WaterfallRowProps {
  readonly id: string
  readonly row: CallRow
  readonly index: number
  readonly top: number
  readonly measure: (element: HTMLElement | null) => void
  readonly span: TimeSpan
  readonly end: number
  readonly isActive: boolean
  readonly isSelected: boolean
  readonly onPress: (row: CallRow, event: MouseEvent) => void
  readonly onToggle: (row: CallRow) => void
}

const DEEPEST_SHOWN = 12

/** A call: its state and name, its bar, how long it took. */
export const WaterfallRow = memo(drawRow)

function drawRow(props: WaterfallRowProps) {
  const { id, row, index, top, measure, span, end, isActive, isSelected, onPress, onToggle } = props
  const { call, depth, children, isOpen } = row
  const bar = placeBar(row, span, end)
  const place = { '--from': `${bar.from}%`, '--length': `${bar.length}%` } as CSSProperties
  const tone = STATUSES.get(call.status)?.[1] ?? 'quiet'
  const indent = { '--depth': Math.min(depth, DEEPEST_SHOWN) } as CSSProperties
  const Chevron = isOpen ? ChevronDown : ChevronRight
  return (
    <div
      id={id}
      ref={measure}
      role="row"
      data-index={index}
      data-active={isActive || undefined}
      aria-rowindex={index + 2}
      aria-level={depth + 1}
      aria-expanded={children > 0 ? isOpen : undefined}
      aria-selected={isSelected}
      className={styles.row}
      style={{ transform: `translateY(${top}px)` }}
      onClick={(event) => onPress(row, event)}
    >
      <div role="gridcell" className={styles.name} style={indent}>
        {children > 0 && (
          <button
            type="button"
            tabIndex={-1}
            className={styles.toggle}
            aria-label={`${isOpen ? 'Hide' : 'Show'} the ${children} calls below ${call.tool}`}
            onClick={() => onToggle(row)}
          >
            <Chevron size={14} aria-hidden="true" />
          </button>
        )}
        <StatusIcon status={call.status} />
        <span className={styles.tool}>
          <VisibleText text={call.tool} />
        </span>
        {!isOpen && children > 0 && <span className={styles.count}>{children}</span>}
      </div>
      <div role="gridcell" className={styles.lane}>
        {bar.isVisible && (
          <span
            className={classNames(styles.bar, styles[tone], row.end === undefined && styles.running)}
            style={place}
          />
        )}
        {bar.isVisible && bar.wordsAt !== 'nowhere' && (
          <span className={classNames(styles.words, bar.wordsAt === 'before' && styles.before)} style={place}>
            <VisibleText text={describeCall(call)} />
          </span>
        )}
        {!bar.isVisible && (
          <span className={classNames(styles.aside, bar.isAfter && styles.later)}>
            {bar.isAfter ? 'later ›' : '‹ earlier'}
          </span>
        )}
      </div>
      <div role="gridcell" className={styles.took}>
        <Duration ms={row.end === undefined ? undefined : call.durationMs} />
      </div>
    </div>
  )
}
