import { type KeyboardEvent, type MouseEvent, useState } from 'react'
import { useShortcut } from '../keyboard/use-shortcut.ts'

interface RowKeysOptions<Row> {
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
  readonly selected?: string
  readonly onOpen?: (row: Row) => void
  readonly onActive?: (row: Row) => void
  readonly scrollTo: (index: number) => void
}

/** Moves through the rows of a table by keys, wherever the focus is; remembers the row by its key, as rows come and go. */
export function useRowKeys<Row>({ rows, rowKey, selected, onOpen, onActive, scrollTo }: RowKeysOptions<Row>) {
  const [activeKey, setActiveKey] = useState<string | undefined>(selected)
  const [lastSelected, setLastSelected] = useState(selected)
  // What is selected by another way, such as a link, is where the keys go on from.
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
    // A link or a button in a cell does its own thing, and selecting text is no press.
    if (event.target instanceof Element && event.target.closest('a, button, input, summary')) return
    if (window.getSelection()?.isCollapsed === false) return
    setActiveKey(rowKey(row))
    onActive?.(row)
    onOpen?.(row)
  }
  return { activeKey, onKeyDown, press }
}
