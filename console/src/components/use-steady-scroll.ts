import { type RefObject, useLayoutEffect, useRef } from 'react'

/** Keeps what somebody reads in place when new rows come in above it; at the very top, new rows are shown as they come. */
export function useSteadyScroll<Row>(
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
