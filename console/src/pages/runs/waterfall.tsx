// biome-ignore-all lint/a11y/useSemanticElements: a table element cannot lay its rows out virtually.
import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, type MouseEvent, useCallback, useEffect, useId, useRef } from 'react'
import { useRowKeys } from '../../components/use-row-keys.ts'
import type { CallRow } from './layout-calls.ts'
import { TimeAxis } from './time-axis.tsx'
import type { Zoom } from './use-zoom.ts'
import styles from './waterfall.module.css'
import { WaterfallRow } from './waterfall-row.tsx'

interface WaterfallProps {
  readonly rows: readonly CallRow[]
  readonly zoom: Zoom
  /** When the run began; the axis counts from here. */
  readonly origin: number
  /** Until when the bars of running calls go. */
  readonly end: number
  readonly selected: string | undefined
  /** The keys select a call as they move; otherwise Enter does. */
  readonly follows: boolean
  readonly onSelect: (callId: string) => void
  readonly onToggle: (callId: string) => void
}

const ROW_PX = 32

/** Calls as bars on one time axis, those a call made below it; only rows in sight are drawn. */
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
  // Always the same, so that a row is drawn once however often the list scrolls.
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

/** An address with a call opens at it. */
function useFirstScroll(rows: readonly CallRow[], selected: string | undefined, scrollTo: (index: number) => void) {
  const isDone = useRef(false)
  useEffect(() => {
    if (isDone.current || rows.length === 0) return
    isDone.current = true
    const index = rows.findIndex(({ call }) => call.callId === selected)
    if (index > 0) scrollTo(index)
  })
}
