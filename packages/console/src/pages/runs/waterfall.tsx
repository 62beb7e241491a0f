// biome-ignore-all lint/a11y/useSemanticElements: a table element cannot lay its rows out virtually.
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus and names the active row.
// biome-ignore-all lint/a11y/useKeyWithClickEvents: Enter on the grid does what a press on a row does.
import { useVirtualizer } from '@tanstack/react-virtual'
import { ChevronDown, ChevronRight } from 'lucide-react'
import {
  type CSSProperties,
  type KeyboardEvent,
  type MouseEvent,
  memo,
  useCallback,
  useEffect,
  useId,
  useRef,
} from 'react'
import { describeCall } from '../../calls/call.ts'
import { STATUSES, StatusIcon } from '../../components/badge.tsx'
import { useRowKeys } from '../../components/table.tsx'
import { VisibleText } from '../../components/text.tsx'
import { Duration } from '../../components/time.tsx'
import { classNames } from '../../lib/class-names.ts'
import { formatDuration } from '../../lib/format.ts'
import type { CallRow, Wait } from './run-calls.ts'
import { TimeAxis, type Zoom } from './time-axis.tsx'
import { placeBar, type TimeSpan } from './time-span.ts'
import styles from './waterfall.module.css'

interface WaterfallProps {
  readonly rows: readonly CallRow[]
  readonly zoom: Zoom
  /** The start of the run, which is 0 on the axis. */
  readonly origin: number
  /** The end of the bars of running calls. */
  readonly end: number
  readonly selected: string | undefined
  /** Moving by keys selects a call; otherwise Enter selects it. */
  readonly follows: boolean
  readonly onSelect: (callId: string) => void
  readonly onToggle: (callId: string) => void
}

const ROW_PX = 32

/** Calls as bars on a time axis, child calls below their parent. Only visible rows are rendered. */
export function Waterfall(props: WaterfallProps) {
  const { rows, zoom, origin, end, selected, follows, onSelect, onToggle } = props
  const scroller = useRef<HTMLDivElement>(null)
  const id = useId()
  const getItemKey = useCallback((index: number) => rows[index]?.call.callId ?? index, [rows])
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    getItemKey,
    overscan: 8,
  })
  const keys = useRowKeys<CallRow>({
    rows,
    rowKey: ({ call }) => call.callId,
    selected,
    onOpen: ({ call }) => onSelect(call.callId),
    onActive: ({ call }) => follows && onSelect(call.callId),
    scrollTo: (index) => virtual.scrollToIndex(index, { align: 'auto' }),
  })
  const openOrClose = (event: KeyboardEvent) => {
    keys.onKeyDown(event)
    if (event.defaultPrevented || (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight')) return
    const row = rows.find(({ call }) => call.callId === keys.activeKey)
    if (!row || row.children === 0 || row.isOpen === (event.key === 'ArrowRight')) return
    event.preventDefault()
    onToggle(row.call.callId)
  }
  // Stable functions, so that a row is rendered once however often the list scrolls.
  const latest = useRef({ press: keys.press, onToggle })
  useEffect(() => {
    latest.current = { press: keys.press, onToggle }
  })
  const press = useCallback((row: CallRow, event: MouseEvent) => latest.current.press(row, event), [])
  const toggle = useCallback((row: CallRow) => latest.current.onToggle(row.call.callId), [])
  useFirstScroll(rows, selected, (index) => virtual.scrollToIndex(index, { align: 'center' }))
  const items = virtual.getVirtualItems()
  const active = items.find(({ key }) => key === keys.activeKey)
  return (
    <div
      ref={scroller}
      className={styles.scroller}
      role="treegrid"
      aria-label="Calls of the run"
      aria-rowcount={rows.length + 1}
      aria-activedescendant={active && `${id}-${active.index}`}
      tabIndex={0}
      onKeyDown={openOrClose}
    >
      <TimeAxis zoom={zoom} origin={origin} />
      <div role="rowgroup" className={styles.body} style={{ height: virtual.getTotalSize() }}>
        {items.map((item) => {
          const row = rows[item.index] as CallRow
          return (
            <WaterfallRow
              key={item.key}
              id={`${id}-${item.index}`}
              row={row}
              index={item.index}
              top={item.start}
              measure={virtual.measureElement}
              span={zoom.span}
              end={end}
              isActive={keys.activeKey === row.call.callId}
              isSelected={selected === row.call.callId}
              onPress={press}
              onToggle={toggle}
            />
          )
        })}
      </div>
    </div>
  )
}

/** Scrolls to the call of the address when the page is opened. */
function useFirstScroll(rows: readonly CallRow[], selected: string | undefined, scrollTo: (index: number) => void) {
  const isDone = useRef(false)
  useEffect(() => {
    if (isDone.current || rows.length === 0) return
    isDone.current = true
    const index = rows.findIndex(({ call }) => call.callId === selected)
    if (index > 0) scrollTo(index)
  })
}

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

const MAX_INDENT = 12

/** A call: its status, name, bar and duration. */
const WaterfallRow = memo(drawRow)

function drawRow(props: WaterfallRowProps) {
  const { id, row, index, top, measure, span, end, isActive, isSelected, onPress, onToggle } = props
  const { call, depth, children, isOpen } = row
  const bar = placeBar(row, span, end)
  const place = { '--from': `${bar.from}%`, '--length': `${bar.length}%` } as CSSProperties
  const tone = STATUSES.get(call.status)?.[1] ?? 'quiet'
  const indent = { '--depth': Math.min(depth, MAX_INDENT) } as CSSProperties
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
        {row.waits.map((wait) => (
          <WaitMark key={wait.from} wait={wait} span={span} end={end} />
        ))}
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

/** The time in which a call waited for a person, on its bar. */
function WaitMark({ wait, span, end }: { wait: Wait; span: TimeSpan; end: number }) {
  const mark = placeBar({ begin: wait.from, end: wait.to }, span, end)
  if (!mark.isVisible) return null
  const place = { '--from': `${mark.from}%`, '--length': `${mark.length}%` } as CSSProperties
  const words = `waited ${formatDuration((wait.to ?? end) - wait.from)} for a person`
  return (
    <span role="img" aria-label={words} title={words} className={classNames(styles.bar, styles.waited)} style={place} />
  )
}
