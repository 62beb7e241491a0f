// biome-ignore-all lint/a11y/useSemanticElements: a table element cannot lay its rows out virtually.
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus and names the active row.
// biome-ignore-all lint/a11y/useKeyWithClickEvents: Enter on the grid does what a press on a row does.
import { useVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, memo, type ReactNode, useCallback, useEffect, useId, useRef } from 'react'
import { classNames } from './class-names.ts'
import styles from './table.module.css'
import { useRowKeys } from './use-row-keys.ts'
import { useSteadyScroll } from './use-steady-scroll.ts'

/** A column: what it shows of a row, how wide, and where it goes on a card. */
export interface Column<Row> {
  readonly id: string
  readonly title: string
  /** A CSS grid track: `96px`, `2fr`, `minmax(120px, 1fr)`. */
  readonly width: string
  readonly align?: 'start' | 'end'
  /** Long content takes more lines; without it, the end of a line is cut. */
  readonly wraps?: boolean
  readonly cell: (row: Row) => ReactNode
  /**
   * On a narrow screen a row is a card: `title` is its first line with `side` beside it, `plain` a line without its
   * label, `meta` shares the last line with others, `hidden` is left out; the rest are lines with a label.
   */
  readonly narrow?: 'title' | 'side' | 'plain' | 'meta' | 'hidden'
}

interface TableProps<Row> {
  readonly label: string
  readonly rows: readonly Row[]
  readonly columns: readonly Column<Row>[]
  readonly rowKey: (row: Row) => string
  /** Enter, `o` and a press on a row. */
  readonly onOpen?: (row: Row) => void
  /** The row the keys are at: to show its details beside the list. */
  readonly onActive?: (row: Row) => void
  /** Key of the row that is shown elsewhere. */
  readonly selected?: string
  /** Nearly at the end: time for the next page. */
  readonly onEnd?: () => void
  readonly tone?: (row: Row) => 'bad' | 'warn' | undefined
  /** Instead of rows, where there are none; an `EmptyState`. */
  readonly empty?: ReactNode
}

const ROW_PX = 40

/** A list of any length: only rows in sight are drawn; j/k and arrows move, Enter opens; cards on a phone. */
export function Table<Row>(props: TableProps<Row>) {
  const { label, rows, columns, rowKey, onOpen, selected, onEnd, tone, empty } = props
  const scroller = useRef<HTMLDivElement>(null)
  const id = useId()
  const keyOf = useRef(rowKey)
  useEffect(() => {
    keyOf.current = rowKey
  })
  // Measured again only when the rows change: pages give `rowKey` anew with every render.
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

// Drawn once a row, however often the list scrolls: give `columns` as a constant, or by useMemo.
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
