// biome-ignore-all lint/a11y/useSemanticElements: a table element cannot lay its rows out virtually.
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus and names the active row.
// biome-ignore-all lint/a11y/useKeyWithClickEvents: Enter on the grid does what a press on a row does.
import { useVirtualizer } from '@tanstack/react-virtual'
import {
  type CSSProperties,
  type KeyboardEvent,
  type MouseEvent,
  memo,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { classNames } from '../lib/class-names.ts'
import { useShortcut } from '../lib/shortcuts.ts'
import styles from './table.module.css'

/** A column: what it shows of a row, its width, and its place on a card. */
export interface Column<Row> {
  readonly id: string
  readonly title: string
  /** A CSS grid track: `96px`, `2fr`, `minmax(120px, 1fr)`. */
  readonly width: string
  readonly align?: 'start' | 'end'
  /** Long content wraps; otherwise it is cut off. */
  readonly wraps?: boolean
  readonly cell: (row: Row) => ReactNode
  /**
   * On a narrow screen a row is a card: `title` is its first line with `side` next to it, `plain` is a line without a
   * label, `meta` shares the last line with others, `hidden` is left out; all others are lines with a label.
   */
  readonly narrow?: 'title' | 'side' | 'plain' | 'meta' | 'hidden'
}

/** What a table shows, and what happens when a row is opened. */
export interface TableProps<Row> {
  readonly label: string
  readonly rows: readonly Row[]
  readonly columns: readonly Column<Row>[]
  readonly rowKey: (row: Row) => string
  /** Called on Enter, on `o`, and on a click on a row. */
  readonly onOpen?: (row: Row) => void
  /** Called when the keys move to a row, to show its details next to the list. */
  readonly onActive?: (row: Row) => void
  /** The key of the row whose details are shown. */
  readonly selected?: string
  /** Called near the end of the list, to load the next page. */
  readonly onEnd?: () => void
  readonly tone?: (row: Row) => 'bad' | 'warn' | undefined
  /** The `EmptyState`, shown if there are no rows. */
  readonly empty?: ReactNode
}

const ROW_PX = 40

/** A table of any length: only visible rows are rendered. j, k and arrow keys move, Enter opens. Cards on a phone. */
export function Table<Row>(props: TableProps<Row>) {
  const { label, rows, columns, rowKey, onOpen, selected, onEnd, tone, empty } = props
  const scroller = useRef<HTMLDivElement>(null)
  const id = useId()
  const keyOf = useRef(rowKey)
  useEffect(() => {
    keyOf.current = rowKey
  })
  // Changes only with the rows: pages pass a new `rowKey` on each render.
  const getItemKey = useCallback((index: number) => keyOf.current(rows[index] as Row), [rows])
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    getItemKey,
    overscan: 8,
    onChange: ({ range }) => {
      if (range && rows.length > 0 && range.endIndex >= rows.length - 20) onEnd?.()
    },
  })
  const keys = useRowKeys({ ...props, scrollTo: (index) => virtual.scrollToIndex(index, { align: 'auto' }) })
  useSteadyScroll(scroller, rows, rowKey, ROW_PX)
  const items = virtual.getVirtualItems()
  const active = items.find(({ key }) => key === keys.activeKey)
  const tracks = { '--tracks': columns.map(({ width }) => width).join(' ') } as CSSProperties

  if (rows.length === 0 && empty !== undefined) return <div className={styles.empty}>{empty}</div>
  return (
    <div
      ref={scroller}
      className={styles.scroller}
      role="grid"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-colcount={columns.length}
      aria-activedescendant={active && `${id}-${active.index}`}
      style={tracks}
      tabIndex={0}
      onKeyDown={keys.onKeyDown}
    >
      <div role="rowgroup" className={styles.head}>
        <div role="row" aria-rowindex={1} className={styles.row}>
          {columns.map((column) => (
            <div key={column.id} role="columnheader" className={cellClass(column)}>
              {column.title}
            </div>
          ))}
        </div>
      </div>
      <div role="rowgroup" className={styles.body} style={{ height: virtual.getTotalSize() }}>
        {items.map((item) => {
          const row = rows[item.index] as Row
          const key = rowKey(row)
          return (
            <div
              key={item.key}
              id={`${id}-${item.index}`}
              role="row"
              ref={virtual.measureElement}
              data-index={item.index}
              data-active={keys.activeKey === key || undefined}
              data-tone={tone?.(row)}
              aria-rowindex={item.index + 2}
              aria-selected={selected === key}
              className={classNames(styles.row, styles.item, onOpen && styles.opens)}
              style={{ transform: `translateY(${item.start}px)` }}
              onClick={(event) => keys.press(row, event)}
            >
              <Cells row={row} columns={columns} />
            </div>
          )
        })}
      </div>
    </div>
  )
}

// Rendered once per row, however often the list scrolls. `columns` must be a constant or memoized.
const Cells = memo(drawCells) as typeof drawCells

function drawCells<Row>({ row, columns }: { row: Row; columns: readonly Column<Row>[] }): ReactNode {
  return columns.map((column) => (
    <div key={column.id} role="gridcell" className={cellClass(column)}>
      <span className={styles.label} aria-hidden="true">
        {column.title}
      </span>
      {column.cell(row)}
    </div>
  ))
}

function cellClass<Row>({ align, wraps, narrow }: Column<Row>): string {
  return classNames(
    styles.cell,
    align === 'end' && styles.end,
    wraps && styles.wraps,
    narrow !== undefined && styles[narrow],
  )
}

interface RowKeysOptions<Row> {
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
  readonly selected?: string
  readonly onOpen?: (row: Row) => void
  readonly onActive?: (row: Row) => void
  readonly scrollTo: (index: number) => void
}

/** Moves through the rows of a table by keys, regardless of the focus. Keeps the row by its key, since rows change. */
export function useRowKeys<Row>({ rows, rowKey, selected, onOpen, onActive, scrollTo }: RowKeysOptions<Row>) {
  const [activeKey, setActiveKey] = useState<string | undefined>(selected)
  const [lastSelected, setLastSelected] = useState(selected)
  // The keys continue from a row that was selected another way, such as by a link.
  if (selected !== lastSelected) {
    setLastSelected(selected)
    if (selected !== undefined) setActiveKey(selected)
  }
  const indexOf = (key: string | undefined) => rows.findIndex((row) => rowKey(row) === key)

  const goTo = (wanted: number) => {
    const index = Math.max(0, Math.min(rows.length - 1, wanted))
    const row = rows[index]
    if (row === undefined) return
    setActiveKey(rowKey(row))
    scrollTo(index)
    onActive?.(row)
  }
  const move = (by: number) => goTo(activeKey === undefined ? 0 : indexOf(activeKey) + by)
  const open = () => {
    const row = rows[indexOf(activeKey)]
    if (row !== undefined) onOpen?.(row)
  }

  useShortcut('j', 'Next row', () => move(1))
  useShortcut('k', 'Previous row', () => move(-1))
  useShortcut('Enter', 'Open the row', open, { when: onOpen !== undefined })
  useShortcut('o', 'Open the row', open, { when: onOpen !== undefined })

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return
    const moves: Record<string, () => void> = {
      ArrowDown: () => move(1),
      ArrowUp: () => move(-1),
      PageDown: () => move(15),
      PageUp: () => move(-15),
      Home: () => goTo(0),
      End: () => goTo(rows.length - 1),
    }
    if (!Object.hasOwn(moves, event.key)) return
    event.preventDefault()
    moves[event.key]?.()
  }
  const press = (row: Row, event: MouseEvent) => {
    // Links and buttons in a cell have their own action, and selecting text is not a click.
    if (event.target instanceof Element && event.target.closest('a, button, input, summary')) return
    if (window.getSelection()?.isCollapsed === false) return
    setActiveKey(rowKey(row))
    onActive?.(row)
    onOpen?.(row)
  }
  return { activeKey, onKeyDown, press }
}

/** Keeps the visible rows in place when new rows are added above them, except at the very top of the list. */
function useSteadyScroll<Row>(
  scroller: RefObject<HTMLElement | null>,
  rows: readonly Row[],
  rowKey: (row: Row) => string,
  rowPx: number,
): void {
  const firstKey = useRef<string>(undefined)
  useLayoutEffect(() => {
    const element = scroller.current
    const before = firstKey.current
    const first = rows[0]
    firstKey.current = first === undefined ? undefined : rowKey(first)
    if (!element || before === undefined || before === firstKey.current || element.scrollTop < rowPx) return
    const added = rows.findIndex((row) => rowKey(row) === before)
    if (added > 0) element.scrollTop += added * rowPx
  }, [scroller, rows, rowKey, rowPx])
}
