import { type PointerEvent, type UIEvent, useRef, useState } from 'react'

/** Whether the list stands still, why, and what to give the element around the table to find out. */
export interface Hold {
  readonly isHeld: boolean
  /** Asked for by the button or its key, rather than by reading. */
  readonly isPaused: boolean
  readonly area: {
    onPointerMove(event: PointerEvent): void
    onPointerLeave(): void
    onScrollCapture(event: UIEvent): void
  }
  /** The keys are at the row with this index. */
  moveTo(index: number): void
  pause(): void
  resume(): void
}

const ROW_PX = 40

/** Nobody wants a row to move away that is pointed at or read: the list stands still while one but the newest is. */
export function useHold(): Hold {
  const [isPaused, setPaused] = useState(false)
  const [isPointedAt, setPointedAt] = useState(false)
  const [hasKeys, setHasKeys] = useState(false)
  const [isScrolled, setScrolled] = useState(false)
  const scroller = useRef<Element>(null)
  return {
    isHeld: isPaused || isPointedAt || hasKeys || isScrolled,
    isPaused,
    area: {
      onPointerMove({ target, pointerType }) {
        if (pointerType === 'touch' || !(target instanceof Element)) return
        const row = target.closest('[role="row"][data-index]')
        setPointedAt(row !== null && row.getAttribute('data-index') !== '0')
      },
      onPointerLeave: () => setPointedAt(false),
      onScrollCapture({ target }) {
        if (!(target instanceof Element) || target.getAttribute('role') !== 'grid') return
        scroller.current = target
        setScrolled(target.scrollTop > ROW_PX)
      },
    },
    moveTo: (index) => setHasKeys(index > 0),
    pause: () => setPaused(true),
    resume() {
      setPaused(false)
      setPointedAt(false)
      setHasKeys(false)
      setScrolled(false)
      scroller.current?.scrollTo({ top: 0 })
    },
  }
}
